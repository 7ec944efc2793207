import Bytes
import JSONText

/// Builds the binary form object by object, values before the containers that hold them.
///
/// Source of the form: <doc:KeyedArchives>, A.2 and A.4.
struct BinaryWriter {
    /// References and offsets take four bytes each.
    static let width = 4

    private(set) var bytes: [UInt8]
    private var offsets: [UInt32] = []
    /// Where each object began in the source.
    private(set) var places: [UInt32] = []
    /// The object that was written last, if it is an integer.
    private(set) var lastInteger: PropertyListInteger?

    /// Begins with the header and objects that ``append(objectAt:from:)`` lists.
    init(objects: some Sequence<UInt8> = "bplist00".utf8) {
        bytes = Array(objects)
    }

    /// Lists an object whose bytes are there already.
    mutating func append(objectAt offset: UInt32, from place: Int) {
        offsets.append(offset)
        places.append(UInt32(place))
    }

    /// The number of the object that is written last.
    var last: UInt32 { UInt32(offsets.count - 1) }

    /// Begins an object.
    private mutating func begin(at place: Int) {
        lastInteger = nil
        append(objectAt: UInt32(bytes.count), from: place)
    }

    mutating func append(boolean: Bool, at place: Int) {
        begin(at: place)
        bytes.append(boolean ? 0x09 : 0x08)
    }

    mutating func append(integer: PropertyListInteger, at place: Int) {
        begin(at: place)
        if integer.bits >> 63 == 1, !integer.isNegative {
            bytes.append(0x14)
            bytes.append(word: 0)
        } else {
            bytes.append(0x13)
        }
        bytes.append(word: integer.bits)
        lastInteger = integer
    }

    mutating func append(real: Double, at place: Int) { append(0x23, real, at: place) }

    mutating func append(date: Double, at place: Int) { append(0x33, date, at: place) }

    private mutating func append(_ marker: UInt8, _ number: Double, at place: Int) {
        begin(at: place)
        bytes.append(marker)
        bytes.append(word: number.bitPattern)
    }

    mutating func append(uid: UInt32, at place: Int) {
        begin(at: place)
        bytes.append(0x83)
        bytes.append(half: uid)
    }

    /// Appends a data object with the bytes that `text` encodes.
    ///
    /// - Returns: Whether `text` is well-formed base64. If it is not, nothing is appended.
    mutating func append(base64 text: Span<UInt8>, at place: Int) -> Bool {
        guard let count = Base64.decodedCount(text) else { return false }
        begin(at: place)
        bytes.append(kind: 0x40, count: count)
        bytes.append(addingCapacity: count) { Base64.decode(text, into: &$0) }
        return true
    }

    /// Writes well-formed UTF-8 as ASCII if it is, else as UTF-16BE.
    mutating func append(text: Span<UInt8>, isASCII: Bool, at place: Int) {
        begin(at: place)
        if isASCII {
            bytes.append(kind: 0x50, count: text.count)
            bytes.append(copying: text)
            return
        }
        let string = String(readingUTF8: text)
        bytes.append(kind: 0x60, count: string.utf16.count)
        for unit in string.utf16 {
            bytes.append(UInt8(unit >> 8))
            bytes.append(UInt8(unit & 0xFF))
        }
    }

    mutating func append(array elements: ArraySlice<UInt32>, at place: Int) {
        begin(at: place)
        bytes.append(kind: 0xA0, count: elements.count)
        for element in elements { bytes.append(half: element) }
    }

    /// - Parameter members: keys and values by turns.
    mutating func append(dictionary members: ArraySlice<UInt32>, at place: Int) {
        begin(at: place)
        bytes.append(kind: 0xD0, count: members.count / 2)
        for start in [members.startIndex, members.startIndex + 1] {
            for index in stride(from: start, to: members.endIndex, by: 2) { bytes.append(half: members[index]) }
        }
    }

    /// Removes the last object.
    mutating func removeLast() {
        places.removeLast()
        lastInteger = nil
        if let offset = offsets.popLast() { bytes.removeLast(bytes.count - Int(offset)) }
    }

    /// The text of an object.
    @_lifetime(borrow self)
    func text(of number: UInt32) -> StoredText {
        StoredText(at: offsets[Int(number)], in: bytes.span)
    }

    /// Writes offset table and trailer.
    /// - Parameter root: The number of the root; the last object if it is nil.
    mutating func finish(root: Int? = nil, referenceSize: Int = width) {
        let table = UInt64(bytes.count)
        for offset in offsets { bytes.append(half: offset) }
        bytes.append(word: UInt64(Self.width) << 8 | UInt64(referenceSize))
        bytes.append(word: UInt64(offsets.count))
        bytes.append(word: UInt64(root ?? Int(last)))
        bytes.append(word: table)
        offsets = []
    }
}

extension [UInt8] {
    /// Appends the marker of an object with a count.
    mutating func append(kind: UInt8, count: Int) {
        guard count >= 15 else { return append(kind | UInt8(count)) }
        append(kind | 15)
        append(0x12)
        append(half: UInt32(count))
    }

    fileprivate mutating func append(half: UInt32) {
        for shift: UInt32 in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: half >> shift)) }
    }

    fileprivate mutating func append(word: UInt64) {
        append(half: UInt32(truncatingIfNeeded: word >> 32))
        append(half: UInt32(truncatingIfNeeded: word))
    }
}
