import JSONText

/// The documented meanings of the events of a system. Vocabularies are open: an event that no table has is data, not an
/// error.
public protocol Vocabulary: Sendable {
    /// The meanings of the events of a payload, in their order; nil for one that no table has. Empty for a payload without
    /// events.
    /// - Parameters:
    ///   - payload: the payload of a record of the system.
    ///   - type: the type of the record.
    ///   - nested: memory to read JSON with that stands in texts of the payload.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?]
}
