import Bytes
import JSONText

/// A binary or XML property list in one buffer that is read in place.
///
/// The initializer checks everything that can be reached from the root, in time and memory that are proportional to the
/// length of the file. Values are not converted to objects. A ``PropertyListNode`` identifies a value and is valid only
/// for the document that returned it. XML is converted to the binary form by the initializer.
///
/// The functions that resolve a reference are always inlined. Otherwise, converting a Sift queue takes 12 % longer.
///
/// Source: <doc:KeyedArchives>, part A.
///
/// ```swift
/// let list = try PropertyListDocument(bytes)
/// if let name = list.value(of: "CFBundleIdentifier", in: list.root), list.kind(of: name) == .text {
///     identifier = list.string(of: name)
/// }
/// ```
public struct PropertyListDocument: Sendable {
    /// The property list in the binary form.
    let bytes: [UInt8]
    let layout: BinaryLayout
    /// The source offset of each object, or an empty array if `bytes` is the source.
    let sourceOffsets: [UInt32]
    private let sourceFaults: SourceFaults?

    /// Opens and checks a property list.
    ///
    /// - Throws: ``PropertyListError`` with the byte offset of the fault in the source.
    public init(_ source: [UInt8], limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        guard source.count <= limits.length else {
            throw PropertyListError(
                .tooLarge, at: limits.length, "\(source.count) bytes, of which \(limits.length) are allowed")
        }
        sourceLength = source.count
        let rewritten: RewrittenPropertyList?
        switch try SourceFormat(of: source.span) {
        case .binary:
            var validator = BinaryValidator(layout: try BinaryLayout(of: source.span), limits: limits)
            try validator.validate(source.span)
            rewritten = try validator.repairedDictionaries.rewrite(source, layout: validator.layout)
        case .xml:
            rewritten = try XMLTranscoder.transcode(source.span, limits: limits)
        case .xmlUTF16(let isBigEndian):
            rewritten = try XMLTranscoder.transcode(utf16: source.span, isBigEndian: isBigEndian, limits: limits)
        }
        let bytes = rewritten?.bytes ?? source
        self.bytes = bytes
        layout = try BinaryLayout(of: bytes.span)
        sourceOffsets = rewritten?.sourceOffsets ?? []
        sourceFaults = rewritten.map { SourceFaults(repeats: $0.repeats, xml: $0.faults) }
    }

    /// A `duplicateKey` error, or `nil` if no dictionary contains a key more than once.
    ///
    /// The document contains only the first value of a repeated key.
    public var repeatedKeys: PropertyListError? { sourceFaults?.repeats.map { PropertyListError($0) } }

    /// The error for anything after the value of the property list, or `nil` if there is nothing.
    var endFault: PropertyListError? { sourceFaults?.xml.end }

    /// Returns the error of an invalid value that a null object replaces, or `nil` for other values.
    func fault(of node: PropertyListNode) -> PropertyListError? { sourceFaults?.xml.values[node.number] }

    /// The outermost value.
    public var root: PropertyListNode { node(numbered: layout.rootNumber) }

    /// The number of objects in the binary form, including unreachable objects.
    public var objectCount: Int { layout.objectCount }

    /// The maximum number of values to write if shared values are written each time they occur.
    public var expansionLimit: Int { 4 * layout.objectCount + 1_000_000 }

    /// The length of the source, in bytes.
    public let sourceLength: Int

    /// Returns the byte offset of a value in the source.
    public func offset(of node: PropertyListNode) -> Int {
        sourceOffsets.isEmpty ? Int(node.offset) : Int(sourceOffsets[Int(node.number)])
    }

    @inline(__always)
    func node(numbered number: Int) -> PropertyListNode {
        PropertyListNode(number: UInt32(truncatingIfNeeded: number), offset: layout.offset(of: number, in: bytes.span))
    }
}

extension PropertyListDocument {
    /// Returns the first byte of an object, which contains its kind and a short count.
    @inline(__always)
    func marker(of node: PropertyListNode) -> UInt8 { bytes.span[Int(node.offset)] }

    /// Returns the kind of a value.
    @inline(__always)
    public func kind(of node: PropertyListNode) -> PropertyListKind {
        let marker = marker(of: node)
        return switch marker >> 4 {
        case 0: marker == 0 ? .null : .boolean
        case 1: .integer
        case 2: .real
        case 3: .date
        case 4: .data
        case 5, 6: .text
        case 8: .uid
        case 13: .dictionary
        default: .array
        }
    }

    /// Returns the value of a boolean, or `false` for other kinds.
    public func boolean(of node: PropertyListNode) -> Bool { marker(of: node) == 0x09 }

    /// Returns the value of an integer, or 0 for other kinds.
    public func integer(of node: PropertyListNode) -> PropertyListInteger {
        let marker = marker(of: node)
        guard marker >> 4 == 1 else { return PropertyListInteger(bits: 0, isNegative: false) }
        let start = Int(node.offset) + 1
        switch marker & 0xF {
        case 4:
            let high = bytes.span.bigEndian(at: start, width: 8)
            return PropertyListInteger(bits: bytes.span.bigEndian(at: start + 8, width: 8), isNegative: high != 0)
        case let power:
            let bits = bytes.span.bigEndian(at: start, width: 1 << Int(power & 3))
            return PropertyListInteger(bits: bits, isNegative: power == 3 && bits >> 63 == 1)
        }
    }

    /// Returns the value of a real, or of a date as seconds since 2001-01-01T00:00:00Z.
    ///
    /// Returns 0 for other kinds.
    public func real(of node: PropertyListNode) -> Double {
        let start = Int(node.offset) + 1
        switch marker(of: node) {
        case 0x22: return Double(Float(bitPattern: UInt32(bytes.span.bigEndian(at: start, width: 4))))
        case 0x23, 0x33: return Double(bitPattern: bytes.span.bigEndian(at: start, width: 8))
        default: return 0
        }
    }

    /// Returns the value of an integer or a real, or 1 or 0 for a boolean, or `nil` for other kinds.
    public func number(of node: PropertyListNode) -> Double? {
        switch kind(of: node) {
        case .boolean: boolean(of: node) ? 1 : 0
        case .integer: integer(of: node).real
        case .real: real(of: node)
        case .null, .date, .data, .text, .uid, .array, .dictionary: nil
        }
    }

    /// Returns the value of a UID, or 0 for other kinds.
    @inline(__always)
    public func uid(of node: PropertyListNode) -> UInt32 {
        let marker = marker(of: node)
        guard marker >> 4 == 8 else { return 0 }
        let width = Int(marker & 0xF) + 1
        // If there are more than eight bytes, the bytes before the last eight are zero.
        let start = Int(node.offset) + 1 + max(width - 8, 0)
        return UInt32(truncatingIfNeeded: bytes.span.bigEndian(at: start, width: min(width, 8)))
    }

    /// Returns the bytes of data or of a stored string, or an empty span for other kinds.
    ///
    /// A string is stored as ASCII, or as UTF-16BE if ``isUTF16(_:)`` returns `true`.
    @_lifetime(borrow self)
    public func payload(of node: PropertyListNode) -> Span<UInt8> {
        let kind = marker(of: node) >> 4
        guard (4...6).contains(kind) else { return bytes.span.extracting(0..<0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        let length = kind == 6 ? 2 * extent.count : extent.count
        return bytes.span.extracting(extent.start..<extent.start + length)
    }

    /// Returns whether a string is stored as UTF-16BE.
    public func isUTF16(_ node: PropertyListNode) -> Bool { marker(of: node) >> 4 == 6 }

    /// Returns the elements of an array, or an empty list for other kinds.
    public func elements(of node: PropertyListNode) -> PropertyListElements {
        let kind = marker(of: node) >> 4
        guard kind == 0xA || kind == 0xC else { return PropertyListElements(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListElements(start: extent.start, count: extent.count)
    }

    /// Returns the element at a position.
    @inline(__always)
    public func element(at position: Int, of elements: PropertyListElements) -> PropertyListNode {
        precondition(position >= 0 && position < elements.count)
        return referencedNode(at: elements.start + position * layout.referenceSize)
    }

    /// Returns the members of a dictionary in the order of the file, or an empty list for other kinds.
    public func members(of node: PropertyListNode) -> PropertyListMembers {
        guard marker(of: node) >> 4 == 0xD else { return PropertyListMembers(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListMembers(start: extent.start, count: extent.count)
    }

    /// Returns the key at a position, which is a string.
    public func key(at position: Int, of members: PropertyListMembers) -> PropertyListNode {
        precondition(position >= 0 && position < members.count)
        return referencedNode(at: members.start + position * layout.referenceSize)
    }

    /// Returns the value at a position.
    public func value(at position: Int, of members: PropertyListMembers) -> PropertyListNode {
        precondition(position >= 0 && position < members.count)
        return referencedNode(at: members.start + (members.count + position) * layout.referenceSize)
    }

    /// Returns the value for `key` in a dictionary, or `nil` if there is none or `node` is not a dictionary.
    public func value(of key: JSONKey, in node: PropertyListNode) -> PropertyListNode? {
        let members = members(of: node)
        for position in 0..<members.count where text(self.key(at: position, of: members), equals: key.utf8.span) {
            return value(at: position, of: members)
        }
        return nil
    }

    /// Returns the object that the reference at `offset` identifies.
    @inline(__always)
    func referencedNode(at offset: Int) -> PropertyListNode {
        node(numbered: Int(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize)))
    }

    /// Returns the object number of the key at a position.
    func keyNumber(at position: Int, of members: PropertyListMembers) -> UInt32 {
        referenceNumber(at: members.start + position * layout.referenceSize)
    }

    /// Returns the object number that is stored in the reference at `offset`.
    @inline(__always)
    func referenceNumber(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize))
    }
}

/// The position of an object in a ``PropertyListDocument``.
public struct PropertyListNode: Hashable, Sendable {
    /// The number of the object in the offset table.
    ///
    /// Several numbers can refer to the same object.
    public let number: UInt32
    /// The offset of the object's marker in the binary form.
    let offset: UInt32
}

/// The kind of a value.
public enum PropertyListKind: Sendable {
    case boolean, integer, real, date, data, text
    /// A null object, which no known encoder writes.
    case null
    /// A reference to an object of a keyed archive.
    case uid
    /// An array, or a set, which is read as an array.
    case array
    /// A dictionary, whose keys are distinct strings.
    case dictionary
}

/// The elements of an array of a ``PropertyListDocument``.
public struct PropertyListElements: Hashable, Sendable {
    /// The offset of the reference to the first element.
    let start: Int
    /// The number of elements.
    public let count: Int
}

/// The members of a dictionary of a ``PropertyListDocument``.
public struct PropertyListMembers: Hashable, Sendable {
    /// The offset of the references to the keys, which are followed by the references to the values.
    let start: Int
    /// The number of members.
    public let count: Int
}

/// An integer from −2^63 to 2^64 − 1.
public struct PropertyListInteger: Hashable, Sendable {
    /// The low 64 bits, in two's complement.
    public let bits: UInt64
    /// Whether the integer is less than zero.
    public let isNegative: Bool

    /// The value as a signed integer, or `nil` if it is 2^63 or greater.
    public var signed: Int64? { isNegative || bits >> 63 == 0 ? Int64(bitPattern: bits) : nil }
    /// The value as an unsigned integer, or `nil` if it is negative.
    public var unsigned: UInt64? { isNegative ? nil : bits }
    /// The value rounded to the nearest real.
    public var real: Double { isNegative ? Double(Int64(bitPattern: bits)) : Double(bits) }
}

extension PropertyListInteger: CustomStringConvertible {
    /// The value in decimal.
    public var description: String { isNegative ? "\(Int64(bitPattern: bits))" : "\(bits)" }
}

/// Functions for the dates of property lists, which are stored as seconds since 2001-01-01T00:00:00Z.
///
/// Source: <doc:KeyedArchives>, A.4 and C.1.
public enum PropertyListDate {
    /// The reference date of property lists, 2001-01-01T00:00:00Z, in seconds since 1970-01-01T00:00:00Z.
    public static let epoch = 978_307_200.0

    /// Returns a date as a string in the format of RFC 3339, in UTC, for example `2020-03-02T13:02:11.500Z`.
    ///
    /// The time is rounded down to milliseconds, which are omitted if they are zero. A year outside of the range 0 to
    /// 9999 has a sign and six digits, as in ISO 8601. Returns `nil` for a date that is not a number or is about
    /// 100,000 years or more from 1970.
    public static func text(secondsSince2001 seconds: Double) -> String? {
        let milliseconds = ((seconds + epoch) * 1000).rounded(.down)
        guard abs(milliseconds) < 3.2e15 else { return nil }
        let total = Int(milliseconds)
        let days = total >= 0 ? total / 86_400_000 : -((86_399_999 - total) / 86_400_000)
        let time = total - days * 86_400_000
        let date = CivilDate(daysSinceEpoch: days)
        let sign = date.year < 0 ? "-" : "+"
        let year =
            (0...9999).contains(date.year)
            ? date.year.zeroPadded(to: 4) : sign + abs(date.year).zeroPadded(to: 6)
        let (month, day) = (date.month.zeroPadded(to: 2), date.day.zeroPadded(to: 2))
        let hour = (time / 3_600_000).zeroPadded(to: 2)
        let minute = (time / 60_000 % 60).zeroPadded(to: 2)
        let second = (time / 1000 % 60).zeroPadded(to: 2)
        let fraction = time % 1000 == 0 ? "" : "." + (time % 1000).zeroPadded(to: 3)
        return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)\(fraction)Z"
    }
}

/// The limits on the size and depth of a property list.
public struct PropertyListLimits: Sendable {
    /// The maximum length of a file, in bytes.
    public var length: Int
    /// The maximum number of levels of arrays and dictionaries, including the root.
    public var depth: Int
    /// Whether an invalid scalar of XML is kept as a null object with an error, and XML in ISO 8859-1 is accepted.
    ///
    /// Anything after the value of the property list is then ignored. By default, such files are rejected, as by Apple's
    /// readers.
    public var keepsInvalidValues = false

    /// The maximum length, in bytes, of a file whose offsets fit in 32 bits.
    public static let maximumLength = Int(UInt32.max) - 1

    /// Creates limits, by default of 512 MiB and 512 levels.
    ///
    /// Values beyond ``maximumLength`` and 512 levels are reduced to these maximums.
    public init(length: Int = 512 << 20, depth: Int = 512) {
        self.length = min(length, Self.maximumLength)
        self.depth = min(max(depth, 1), 512)
    }
}

/// An error that states why bytes are not a valid property list or keyed archive.
///
/// Source of the codes: <doc:KeyedArchives>, D.1.
public struct PropertyListError: Error, Equatable, Sendable {
    /// The kind of fault.
    public let code: Code
    /// The byte offset of the fault in the source.
    public let offset: Int
    /// A description of the fault.
    public let reason: String
    /// Whether the bytes are in the OpenStep text format, which Apple's readers accept.
    public internal(set) var isOpenStepText = false

    /// The kinds of fault, whose raw values appear in reports.
    public enum Code: String, Sendable, CaseIterable {
        /// The file is empty.
        case empty
        /// A file that is neither a binary nor an XML property list.
        case notPlist = "not-plist"
        /// A binary property list whose version is not 00.
        case unsupportedVersion = "unsupported-version"
        /// The file is shorter than the shortest binary property list.
        case truncated
        /// A trailer that contradicts itself or the length of the file.
        case badTrailer = "bad-trailer"
        /// An entry of the offset table that points outside the objects.
        case badOffset = "bad-offset"
        /// A reference to an object that does not exist in the file.
        case badReference = "bad-reference"
        /// A marker byte that version 00 does not define.
        case badMarker = "bad-marker"
        /// An object that does not fit in front of the offset table.
        case badLength = "bad-length"
        /// A byte above 0x7F in an ASCII string.
        case badString = "bad-string"
        /// A UID above 4294967295.
        case badUID = "bad-uid"
        /// A dictionary key that is not a string.
        case badKeyType = "bad-key-type"
        /// A key that occurs more than once in a dictionary.
        case duplicateKey = "duplicate-key"
        /// An array or dictionary that contains itself.
        case containerCycle = "container-cycle"
        /// XML that is not a property list.
        case xmlSyntax = "xml-syntax"
        /// XML that declares an entity.
        case xmlEntity = "xml-entity"
        /// The source has more bytes than allowed.
        case tooLarge = "too-large"
        /// Values are nested deeper than allowed.
        case tooDeep = "too-deep"
        /// A property list that is not a keyed archive.
        case notKeyedArchive = "not-keyed-archive"
        /// A keyed archive whose version is not 100000.
        case badArchiveVersion = "bad-archive-version"
        /// A keyed archive whose `$top` or `$objects` is missing or invalid.
        case badArchiveStructure = "bad-archive-structure"
        /// A keyed archive whose `$top` has no `root`.
        case missingRoot = "missing-root"
        /// A root that does not have the expected type.
        case wrongRoot = "wrong-root"
        /// A UID beyond the objects of the archive.
        case uidOutOfRange = "uid-out-of-range"
        /// An instance whose class record is missing or invalid.
        case badClass = "bad-class"
        /// A collection whose members are missing or inconsistent.
        case badCollection = "bad-collection"
        /// A member whose type is not used by its class.
        case badValue = "bad-value"
        /// A value that contains itself.
        case graphCycle = "graph-cycle"
        /// An instance that does not have the expected class.
        case wrongClass = "wrong-class"
        /// An event that would be rejected by the SDK that stored it.
        case eventSkipped = "event-skipped"
        /// Shared values expand to more values than allowed, or objects overlap too much.
        case budgetExceeded = "budget-exceeded"
    }

    /// Creates an error.
    public init(_ code: Code, at offset: Int, _ reason: String) {
        self.code = code
        self.offset = offset
        self.reason = reason
    }

    /// Creates an error for malformed XML.
    static func syntax(_ reason: String, at offset: Int) -> PropertyListError {
        PropertyListError(.xmlSyntax, at: offset, reason)
    }
}

extension PropertyListError: CustomStringConvertible {
    /// The code and the reason, followed by the offset unless the fault concerns the whole file.
    public var description: String {
        let words = "\(code.rawValue): \(reason)"
        return code == .empty || code == .notPlist ? words : "\(words) at byte \(offset)"
    }
}

extension PropertyListDocument {
    /// Creates an error at the offset of `node`.
    public func error(_ code: PropertyListError.Code, at node: PropertyListNode, _ reason: String) -> PropertyListError
    {
        PropertyListError(code, at: offset(of: node), reason)
    }
}
