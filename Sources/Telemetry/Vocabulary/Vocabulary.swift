import JSONText

/// The documented meanings of the events of a system. Vocabularies are open: an event that no table has is data, not an
/// error.
public protocol Vocabulary: Sendable {
    /// Returns the meanings of the events of a payload, in their order, with `nil` for an unknown event. A payload without
    /// events has no meanings.
    /// - Parameter nested: Memory for reading JSON in strings of the payload.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?]
}
