import JSONText

/// The documented meanings of the events of a system.
///
/// Vocabularies are open: an event without a documented meaning is not an error.
public protocol Vocabulary: Sendable {
    /// Returns the meanings of the events of a payload in their order.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - type: The type of the record.
    ///   - nested: Memory for reading JSON in strings of the payload.
    /// - Returns: The meanings, with `nil` for an unknown event. The array is empty if the payload has no events.
    func labels(of payload: JSONDocument, type: String, nested: inout JSONDocument) -> [String?]
}
