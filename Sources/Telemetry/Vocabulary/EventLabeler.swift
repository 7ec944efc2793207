import JSONText

/// Looks up the documented meanings of the events in payloads, reusing its memory.
public struct EventLabeler: Sendable {
    private let systems: SystemTable
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// Creates a labeler with the vocabularies of `systems`.
    public init(_ systems: SystemTable) { self.systems = systems }

    /// Returns the meanings of the events of a canonical payload, in their order, with `nil` for an unknown event.
    public mutating func labels(of bytes: [UInt8], system: SystemName, type: String) -> [String?] {
        guard let vocabulary = systems[system]?.vocabulary, (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        return vocabulary.labels(of: payload, type: type, nested: &nested)
    }
}
