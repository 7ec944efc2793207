import JSONText

/// A property list, binary or XML, as one flat buffer that is read in place.
///
/// Opening checks everything that can be reached from the root, in time and memory that grow with the length of the
/// file alone; no value is made into an object. A ``PropertyListNode`` is a place in the buffer and means something
/// only together with its document. XML is turned into the binary form when it is opened.
///
/// Source of the format: <doc:KeyedArchives>, part A.
///
/// ```swift
/// let list = try PropertyListDocument(bytes)
/// if let name = list.value(of: "CFBundleIdentifier", in: list.root), list.kind(of: name) == .text {
///     identifier = list.string(of: name)
/// }
/// ```
public struct PropertyListDocument: Sendable {
    /// The binary form.
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let layout: BinaryLayout
    /// The offset of each object in the source; empty where `bytes` is the source.
    @usableFromInline let places: [UInt32]
    private let repeats: RepeatedKeys?

    /// Opens a property list.
    /// - Throws: ``PropertyListError`` with a code of part A and the byte offset in the source.
    public init(_ source: [UInt8], limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        guard source.count <= limits.length else {
            throw PropertyListError(
                .tooLarge, at: limits.length, "\(source.count) bytes, of which \(limits.length) are allowed")
        }
        sourceLength = source.count
        let rewritten: RewrittenPropertyList?
        switch try SourceFormat(of: source.span) {
        case .binary:
            var check = BinaryCheck(layout: try BinaryLayout(of: source.span), limits: limits)
            try check.run(source.span)
            rewritten = try check.repaired.rewrite(source, layout: check.layout)
        case .xml:
            rewritten = try XMLTranscoder.transcode(source.span, limits: limits)
        case .xml16(let isBigEndian):
            rewritten = try XMLTranscoder.transcode(utf16: source.span, isBigEndian: isBigEndian, limits: limits)
        }
        let bytes = rewritten?.bytes ?? source
        self.bytes = bytes
        layout = try BinaryLayout(of: bytes.span)
        places = rewritten?.places ?? []
        repeats = rewritten?.repeats
    }

    /// The `duplicate-key` error for keys that occur more than once in a dictionary; nil if there are none.
    ///
    /// The first value of such a key is kept. The others are not part of the document.
    public var repeatedKeys: PropertyListError? { repeats.map { PropertyListError($0) } }

    /// The outermost value.
    public var root: PropertyListNode { node(numbered: layout.top) }

    /// How many objects the file lists, whether they are reached or not.
    public var objectCount: Int { layout.objectCount }

    /// How many values may come out when everything that is shared is written out: four times the objects and a million.
    public var expansionLimit: Int { 4 * layout.objectCount + 1_000_000 }

    /// How long the source is, in bytes.
    public let sourceLength: Int

    /// Where a value stands in the source, in bytes.
    @inlinable
    @inline(__always)
    public func offset(of node: PropertyListNode) -> Int {
        places.isEmpty ? Int(node.offset) : Int(places[Int(node.number)])
    }

    @inlinable
    @inline(__always)
    func node(numbered number: Int) -> PropertyListNode {
        PropertyListNode(number: UInt32(truncatingIfNeeded: number), offset: layout.offset(of: number, in: bytes.span))
    }
}

extension PropertyListDocument {
    /// The first byte of an object: kind and short count.
    @inlinable
    @inline(__always)
    func marker(of node: PropertyListNode) -> UInt8 { bytes.span[Int(node.offset)] }

    /// The kind of a value.
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

    /// The value of a boolean; false for anything else.
    @inlinable
    public func boolean(of node: PropertyListNode) -> Bool { marker(of: node) == 0x09 }

    /// The value of an integer; 0 for anything else.
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

    /// The value of a real, and of a date the seconds since 2001-01-01T00:00:00Z; 0 for anything else.
    @inlinable
    public func real(of node: PropertyListNode) -> Double {
        let start = Int(node.offset) + 1
        switch marker(of: node) {
        case 0x22: return Double(Float(bitPattern: UInt32(bytes.span.bigEndian(at: start, width: 4))))
        case 0x23, 0x33: return Double(bitPattern: bytes.span.bigEndian(at: start, width: 8))
        default: return 0
        }
    }

    /// The value of a UID; 0 for anything else.
    @inlinable
    @inline(__always)
    public func uid(of node: PropertyListNode) -> UInt32 {
        let marker = marker(of: node)
        guard marker >> 4 == 8 else { return 0 }
        let width = Int(marker & 0xF) + 1
        // Of more than eight bytes the first ones are zero.
        let start = Int(node.offset) + 1 + max(width - 8, 0)
        return UInt32(truncatingIfNeeded: bytes.span.bigEndian(at: start, width: min(width, 8)))
    }

    /// The bytes of data, and of text its bytes in the binary form: ASCII, or UTF-16BE (``isUTF16(_:)``). Empty for
    /// anything else.
    @inlinable
    @_lifetime(borrow self)
    public func payload(of node: PropertyListNode) -> Span<UInt8> {
        let kind = marker(of: node) >> 4
        guard (4...6).contains(kind) else { return bytes.span.extracting(0..<0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        let length = kind == 6 ? 2 * extent.count : extent.count
        return bytes.span.extracting(extent.start..<extent.start + length)
    }

    /// Whether a text is stored as UTF-16BE; otherwise it is ASCII.
    @inlinable
    @inline(__always)
    public func isUTF16(_ node: PropertyListNode) -> Bool { marker(of: node) >> 4 == 6 }

    /// The elements of an array; empty for anything else.
    @inlinable
    @inline(__always)
    public func elements(of node: PropertyListNode) -> PropertyListElements {
        let kind = marker(of: node) >> 4
        guard kind == 0xA || kind == 0xC else { return PropertyListElements(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListElements(start: extent.start, count: extent.count)
    }

    /// The element at a position below the count.
    @inlinable
    @inline(__always)
    public func element(at position: Int, of elements: PropertyListElements) -> PropertyListNode {
        precondition(position >= 0 && position < elements.count)
        return target(at: elements.start + position * layout.referenceSize)
    }

    /// The members of a dictionary in the order of the file; empty for anything else.
    @inlinable
    @inline(__always)
    public func members(of node: PropertyListNode) -> PropertyListMembers {
        guard marker(of: node) >> 4 == 0xD else { return PropertyListMembers(start: 0, count: 0) }
        let extent = BinaryLayout.extent(at: node.offset, in: bytes.span)
        return PropertyListMembers(start: extent.start, count: extent.count)
    }

    /// The key at a position below the count: a text.
    @inlinable
    @inline(__always)
    public func key(at position: Int, of members: PropertyListMembers) -> PropertyListNode {
        precondition(position >= 0 && position < members.count)
        return target(at: members.start + position * layout.referenceSize)
    }

    /// The value at a position below the count.
    @inlinable
    @inline(__always)
    public func value(at position: Int, of members: PropertyListMembers) -> PropertyListNode {
        precondition(position >= 0 && position < members.count)
        return target(at: members.start + (members.count + position) * layout.referenceSize)
    }

    /// The value of a key in a dictionary; nil if there is none, or if the value asked is no dictionary.
    public func value(of key: JSONKey, in node: PropertyListNode) -> PropertyListNode? {
        let members = members(of: node)
        for position in 0..<members.count where text(self.key(at: position, of: members), equals: key.utf8.span) {
            return value(at: position, of: members)
        }
        return nil
    }

    /// The object that a reference at an offset names.
    @inlinable
    @inline(__always)
    func target(at offset: Int) -> PropertyListNode {
        node(numbered: Int(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize)))
    }

    /// The number of the key at a position, to be compared with another one.
    @inlinable
    @inline(__always)
    func keyNumber(at position: Int, of members: PropertyListMembers) -> UInt32 {
        referenceNumber(at: members.start + position * layout.referenceSize)
    }

    /// The number that a reference at an offset has.
    @inlinable
    @inline(__always)
    func referenceNumber(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.span.bigEndian(at: offset, width: layout.referenceSize))
    }
}
