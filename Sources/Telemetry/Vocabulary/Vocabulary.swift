import JSONText

/// The documented meanings of the events of a system.
///
/// Vocabularies are open: an event without a documented meaning is not an error.
public protocol Vocabulary: Sendable {
    /// Returns the meanings of the events of a payload in their order, with `nil` for an unknown event.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?]
}
