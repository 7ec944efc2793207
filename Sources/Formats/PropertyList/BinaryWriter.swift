import Bytes
import JSONText

/// A writer of binary property lists, which adds one object at a time, with values before their containers.
///
/// Source: <doc:KeyedArchives>, A.2 and A.4.
struct BinaryWriter {
    /// The size of a reference or an offset, in bytes.
    static let referenceWidth = 4

    private(set) var bytes: [UInt8]
    private var offsets: [UInt32] = []
    /// The source offset of each object.
    private(set) var sourceOffsets: [UInt32] = []
    /// The object that was appended last, if it is an integer.
    private(set) var lastInteger: PropertyListInteger?

    /// Creates a writer whose output begins with `objects`.
    ///
    /// `objects` consists of a header and, optionally, of objects to add with ``append(objectAt:from:)``.
    init(objects: some Sequence<UInt8> = "bplist00".utf8) {
        bytes = Array(objects)
    }

    /// Adds an object to the offset table without writing its bytes.
    ///
    /// `offset` is the offset of the object in the output, and `sourceOffset` is its offset in the source.
    mutating func append(objectAt offset: UInt32, from sourceOffset: Int) {
        offsets.append(offset)
        sourceOffsets.append(UInt32(sourceOffset))
    }

    var lastNumber: UInt32 { UInt32(offsets.count - 1) }

    /// Begins an object at the end of the output by adding it to the offset table.
    private mutating func beginObject(at sourceOffset: Int) {
        lastInteger = nil
        append(objectAt: UInt32(bytes.count), from: sourceOffset)
    }

    /// Appends a null object, which represents an invalid value.
    mutating func appendNull(at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(0x00)
    }

    mutating func append(boolean: Bool, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(boolean ? 0x09 : 0x08)
    }

    mutating func append(integer: PropertyListInteger, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        if integer.bits >> 63 == 1, !integer.isNegative {
            bytes.append(0x14)
            bytes.append(uint64: 0)
        } else {
            bytes.append(0x13)
        }
        bytes.append(uint64: integer.bits)
        lastInteger = integer
    }

    mutating func append(real: Double, at sourceOffset: Int) { append(0x23, real, at: sourceOffset) }

    mutating func append(date: Double, at sourceOffset: Int) { append(0x33, date, at: sourceOffset) }

    private mutating func append(_ marker: UInt8, _ number: Double, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(marker)
        bytes.append(uint64: number.bitPattern)
    }

    mutating func append(uid: UInt32, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(0x83)
        bytes.append(uint32: uid)
    }

    /// Appends the data that base64 text encodes, or returns `false` if the text is malformed.
    mutating func append(base64 text: Span<UInt8>, at sourceOffset: Int) -> Bool {
        guard let count = Base64.decodedCount(text) else { return false }
        beginObject(at: sourceOffset)
        bytes.append(kind: 0x40, count: count)
        bytes.append(addingCapacity: count) { Base64.decode(text, into: &$0) }
        return true
    }

    /// Appends well-formed UTF-8 as a string, which is stored as ASCII or as UTF-16BE.
    mutating func append(text: Span<UInt8>, isASCII: Bool, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
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

    mutating func append(array elements: ArraySlice<UInt32>, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(kind: 0xA0, count: elements.count)
        for element in elements { bytes.append(uint32: element) }
    }

    /// Appends a dictionary whose keys and values have the object numbers `members`, in alternation.
    mutating func append(dictionary members: ArraySlice<UInt32>, at sourceOffset: Int) {
        beginObject(at: sourceOffset)
        bytes.append(kind: 0xD0, count: members.count / 2)
        for start in [members.startIndex, members.startIndex + 1] {
            for index in stride(from: start, to: members.endIndex, by: 2) { bytes.append(uint32: members[index]) }
        }
    }

    mutating func removeLast() {
        sourceOffsets.removeLast()
        lastInteger = nil
        if let offset = offsets.popLast() { bytes.removeLast(bytes.count - Int(offset)) }
    }

    /// Returns the string with the object number `number`.
    @_lifetime(borrow self)
    func text(of number: UInt32) -> StoredText {
        StoredText(at: offsets[Int(number)], in: bytes.span)
    }

    /// Appends the offset table and the trailer.
    ///
    /// The root is the object `root` or, by default, the last object.
    mutating func finish(root: Int? = nil, referenceSize: Int = referenceWidth) {
        let table = UInt64(bytes.count)
        for offset in offsets { bytes.append(uint32: offset) }
        bytes.append(uint64: UInt64(Self.referenceWidth) << 8 | UInt64(referenceSize))
        bytes.append(uint64: UInt64(offsets.count))
        bytes.append(uint64: UInt64(root ?? Int(lastNumber)))
        bytes.append(uint64: table)
        offsets = []
    }
}

extension [UInt8] {
    /// Appends the marker byte of an object, followed by its count if the count is at least 15.
    ///
    /// A smaller count is stored in the marker itself, together with the kind.
    mutating func append(kind: UInt8, count: Int) {
        guard count >= 15 else { return append(kind | UInt8(count)) }
        append(kind | 15)
        append(0x12)
        append(uint32: UInt32(count))
    }

    fileprivate mutating func append(uint32: UInt32) {
        for shift: UInt32 in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: uint32 >> shift)) }
    }

    fileprivate mutating func append(uint64: UInt64) {
        append(uint32: UInt32(truncatingIfNeeded: uint64 >> 32))
        append(uint32: UInt32(truncatingIfNeeded: uint64))
    }
}
