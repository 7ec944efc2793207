import Bytes

/// The readiness of a queue for upload, and the reason.
///
/// The reason contains no numbers, so that queues with the same reason have equal states.
public struct QueueState: Sendable, Hashable {
    /// The readiness of a queue for upload.
    public enum Readiness: String, Sendable, CaseIterable {
        /// The queue is ready according to the rules of the app.
        case ready
        /// The queue contains events but is not ready according to the rules of the app.
        case notReady = "not-ready"
        /// The queue is empty.
        case empty
        /// The queue contains events, but the rules of its app are unknown.
        case unknown
    }

    /// The readiness of the queue for upload.
    public let readiness: Readiness
    /// The code of the reason, such as `too-many`.
    @CapturedText public private(set) var code: String
    /// The reason as a phrase without a full stop and without numbers.
    @CapturedText public private(set) var text: String

    /// Creates a state from a readiness, and from the code and the phrase of its reason.
    public init(_ readiness: Readiness, _ code: String, _ text: String) {
        self.readiness = readiness
        self.code = code
        self.text = text
    }
}
