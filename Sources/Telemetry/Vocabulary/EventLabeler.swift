import JSONText

/// A lookup of the documented meanings of events, with reusable memory.
public struct EventLabeler: Sendable {
    private let systems: SystemTable
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// Creates a labeler with the vocabularies of `systems`.
    public init(_ systems: SystemTable) { self.systems = systems }

    /// Returns the meaning of each event in the canonical payload `bytes`, or `nil` for an unknown event.
    ///
    /// The array is empty if the system has no vocabulary.
    public mutating func labels(of bytes: [UInt8], system: SystemName, type: String) -> [String?] {
        guard let vocabulary = systems[system]?.vocabulary, (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        return vocabulary.labels(of: payload, type: type, nested: &nested)
    }
}
