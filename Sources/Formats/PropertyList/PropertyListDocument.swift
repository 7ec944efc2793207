import JSONText

/// A binary or XML property list in one buffer that is read in place.
///
/// The initializer checks everything that can be reached from the root, in time and memory that are proportional to the
/// length of the file. Values are not converted to objects. A ``PropertyListNode`` identifies a value and is valid only
/// for the document that returned it. XML is converted to the binary form by the initializer.
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
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let layout: BinaryLayout
    /// The source offset of each object, or an empty array if `bytes` is the source.
    @usableFromInline let sourceOffsets: [UInt32]
    private let repeats: RepeatedKeys?

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
        repeats = rewritten?.repeats
    }

    /// A `duplicateKey` error, or `nil` if no dictionary contains a key more than once.
    ///
    /// The document contains only the first value of a repeated key.
    public var repeatedKeys: PropertyListError? { repeats.map { PropertyListError($0) } }

    /// The outermost value.
    public var root: PropertyListNode { node(numbered: layout.rootNumber) }

    /// The number of objects in the binary form, including unreachable objects.
    public var objectCount: Int { layout.objectCount }

    /// The maximum number of values to write if shared values are written each time they occur.
    public var expansionLimit: Int { 4 * layout.objectCount + 1_000_000 }

    /// The length of the source, in bytes.
    public let sourceLength: Int

    /// Returns the byte offset of a value in the source.
    @inlinable
    @inline(__always)
    public func offset(of node: PropertyListNode) -> Int {
        sourceOffsets.isEmpty ? Int(node.offset) : Int(sourceOffsets[Int(node.number)])
    }

    @inlinable
    @inline(__always)
    func node(numbered number: Int) -> PropertyListNode {
        PropertyListNode(number: UInt32(truncatingIfNeeded: number), offset: layout.offset(of: number, in: bytes.span))
    }
}

extension PropertyListDocument {
    /// Returns the first byte of an object, which contains its kind and a short count.
    @inlinable
    @inline(__always)
    func marker(of node: PropertyListNode) -> UInt8 { bytes.span[Int(node.offset)] }

    /// Returns the kind of a value.
    @inlinable
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
    @inlinable
    public func boolean(of node: PropertyListNode) -> Bool { marker(of: node) == 0x09 }

    /// Returns the value of an integer, or 0 for other kinds.
    @inline(__always)
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
    @inlinable
    public func real(of node: PropertyListNode) -> Double {
        let start = Int(node.offset) + 1
        switch marker(of: node) {
        case 0x22: return Double(Float(bitPattern: UInt32(bytes.span.bigEndian(at: start, width: 4))))
        case 0x23, 0x33: return Double(bitPattern: bytes.span.bigEndian(at: start, width: 8))
        default: return 0
        }
    }

    /// Returns the value of a UID, or 0 for other kinds.
    @inlinable
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
    @inlinable
    @_lifetime(borrow self)
    public func payload(of node: PropertyListNode) -> Span<UInt8> {
        let kind = marker(of: node) >> 4
        guard (4...6).contains(kind) else { return bytes.span.extracting(0..<0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        let length = kind == 6 ? 2 * extent.count : extent.count
        return bytes.span.extracting(extent.start..<extent.start + length)
    }

    /// Returns whether a string is stored as UTF-16BE.
    @inlinable
    @inline(__always)
    public func isUTF16(_ node: PropertyListNode) -> Bool { marker(of: node) >> 4 == 6 }

    /// Returns the elements of an array, or an empty list for other kinds.
    @inlinable
    @inline(__always)
    public func elements(of node: PropertyListNode) -> PropertyListElements {
        let kind = marker(of: node) >> 4
        guard kind == 0xA || kind == 0xC else { return PropertyListElements(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListElements(start: extent.start, count: extent.count)
    }

    /// Returns the element at a position.
    @inlinable
    @inline(__always)
    public func element(at position: Int, of elements: PropertyListElements) -> PropertyListNode {
        precondition(position >= 0 && position < elements.count)
        return referencedNode(at: elements.start + position * layout.referenceSize)
    }

    /// Returns the members of a dictionary in the order of the file, or an empty list for other kinds.
    @inlinable
    @inline(__always)
    public func members(of node: PropertyListNode) -> PropertyListMembers {
        guard marker(of: node) >> 4 == 0xD else { return PropertyListMembers(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListMembers(start: extent.start, count: extent.count)
    }

    /// Returns the key at a position, which is a string.
    @inlinable
    @inline(__always)
    public func key(at position: Int, of members: PropertyListMembers) -> PropertyListNode {
        precondition(position >= 0 && position < members.count)
        return referencedNode(at: members.start + position * layout.referenceSize)
    }

    /// Returns the value at a position.
    @inlinable
    @inline(__always)
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
    @inlinable
    @inline(__always)
    func referencedNode(at offset: Int) -> PropertyListNode {
        node(numbered: Int(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize)))
    }

    /// Returns the object number of the key at a position.
    @inlinable
    @inline(__always)
    func keyNumber(at position: Int, of members: PropertyListMembers) -> UInt32 {
        referenceNumber(at: members.start + position * layout.referenceSize)
    }

    /// Returns the object number that is stored in the reference at `offset`.
    @inlinable
    @inline(__always)
    func referenceNumber(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize))
    }
}
