/// The records, rejects and problems that were found in the bytes of a store file.
public struct Extraction: Sendable {
    /// The uploads, in the order of the store.
    public var records: [Record] = []
    /// The bytes that could not be understood.
    public var rejects: [Reject] = []
    /// The problems: what is worth reporting and is neither a record nor a reject.
    public var problems: [Problem] = []

    /// Begins with nothing found.
    public init() {}

    /// Whether nothing was found at all.
    public var isEmpty: Bool { records.isEmpty && rejects.isEmpty && problems.isEmpty }

    /// Forgets what was found, keeps the memory.
    public mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        rejects.removeAll(keepingCapacity: true)
        problems.removeAll(keepingCapacity: true)
    }
}

/// Bytes of a store that could not be understood and go to quarantine.
public struct Reject: Sendable, Equatable {
    /// A case id or code, a space, and words.
    public var reason: String
    /// Where the span begins, or where understanding ended; nil for the whole file.
    public var offset: Int?
    /// How long the span is; nil for all of the file.
    public var length: Int?

    /// Rejects a span, or all of a file where none is given.
    public init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.length = length
    }

    /// The bytes meant, within a file of a given length.
    public func range(inFileOf count: Int) -> Range<Int> {
        guard let offset, let length, offset <= count else { return 0..<count }
        return offset..<min(offset + length, count)
    }
}

/// Something worth telling the operator about a store.
public struct Problem: Sendable, Equatable {
    /// A short code: `pending-counters`, `unreadable`, ….
    public var code: String
    /// The problem in words.
    public var text: String

    /// Says what is worth telling.
    public init(_ code: String, _ text: String) {
        self.code = code
        self.text = text
    }
}
