import JSONText

/// The documented meanings of the events of a system.
///
/// An event without a documented meaning is not an error.
public protocol Vocabulary: Sendable {
    /// Returns the meaning of each event of a payload, or `nil` for an unknown event.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?]
}
