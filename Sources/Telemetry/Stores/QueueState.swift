/// The state of a queue according to the rules of the app, equal for queues in the same condition.
public struct QueueState: Sendable, Hashable {
    /// The readiness of a queue for upload.
    public enum Readiness: String, Sendable, CaseIterable {
        /// The queue is ready by the rules.
        case ready
        /// The queue contains events but is not ready by the rules.
        case notReady = "not-ready"
        /// The queue is empty.
        case empty
        /// The queue contains events, but no file contains its rules.
        case unknown
    }

    /// The readiness.
    public let readiness: Readiness
    /// The code of the reason, such as `too-many`.
    public let code: String
    /// The reason as a phrase without a full stop and without numbers.
    public let text: String

    /// Creates a state.
    public init(_ readiness: Readiness, _ code: String, _ text: String) {
        self.readiness = readiness
        self.code = code
        self.text = text
    }
}
