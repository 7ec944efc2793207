import JSONText

/// The documented meanings of the events of a system.
///
/// An event without a documented meaning is not an error.
public protocol Vocabulary: Sendable {
    /// Returns the meaning of each event of `payload`, or `nil` for an unknown event.
    ///
    /// `record` is the summary of the record with the payload. Its app can determine which vocabulary applies. `nested` is
    /// reusable memory for JSON in strings.
    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?]
}

/// An error in a file that defines events and metrics.
public struct DefinitionsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason why a file or a definition cannot be used.
    public let reason: String
    /// The byte offset of the error in the file, or `nil` if it is unknown.
    public let offset: Int?

    /// Creates an error at `offset`.
    public init(_ reason: String, at offset: Int?) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset in one line, without a full stop.
    public var description: String { offset.map { "\(reason) at byte \($0)" } ?? reason }
}

/// A lookup of the documented meanings of events, with reusable memory.
public struct EventLabeler: Sendable {
    private let systems: SystemTable
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// Creates a labeler with the vocabularies of `systems`.
    public init(_ systems: SystemTable) { self.systems = systems }

    /// Returns the meaning of each event in `bytes`, the canonical payload of a record, or `nil` for an unknown event.
    ///
    /// The array is empty if the system has no vocabulary.
    public mutating func labels(of bytes: [UInt8], in record: RecordSummary) -> [String?] {
        guard let vocabulary = systems[record.system]?.vocabulary, (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        return vocabulary.labels(of: payload, in: record, nested: &nested)
    }
}

extension EventLabeler {
    /// Returns the line of a record with an additional member `labels`.
    ///
    /// The member is an array with the meaning of each event, or `null` for an unknown event.
    public mutating func labeled(
        line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, of record: RecordSummary
    ) -> [UInt8] {
        let labels = labels(of: Array(payload), in: record)
        let line = Array(line)
        // In canonical order, `labels` directly precedes `notes`.
        guard let document = try? JSONDocument(line, policy: JSONReadingPolicy(depthLimit: 513, valueLimit: .fixed)),
            let notes = document.value(of: RecordKeys.notes, in: document.root),
            let start = document.sourceRange(of: notes)?.lowerBound
        else { return line }
        let place = start - "\"notes\":".utf8.count
        var labeled = Array(line[..<place])
        labeled += "\"labels\":[".utf8
        for (index, label) in labels.enumerated() {
            if index > 0 { labeled.append(UInt8(ascii: ",")) }
            if let label { labeled.append(jsonString: label) } else { labeled += "null".utf8 }
        }
        labeled += "],".utf8
        labeled += line[place...]
        return labeled
    }
}
