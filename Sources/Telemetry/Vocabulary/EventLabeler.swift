import JSONText

/// Finds the documented meanings of the events of payloads. A labeler uses its memory again for the next payload.
public struct EventLabeler: Sendable {
    private let systems: SystemTable
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// Begins without a payload.
    /// - Parameter systems: whose vocabularies are asked.
    public init(_ systems: SystemTable) {
        self.systems = systems
    }

    /// The meanings of the events of a payload, in their order; nil for one that no table has. Empty for a payload without
    /// events, such as a core ping.
    /// - Parameter bytes: the canonical payload of a record of this system and type.
    public mutating func labels(of bytes: [UInt8], system: SystemName, type: String) -> [String?] {
        guard let vocabulary = systems[system]?.vocabulary, (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        return vocabulary.labels(of: payload, type: type, nested: &nested)
    }
}
