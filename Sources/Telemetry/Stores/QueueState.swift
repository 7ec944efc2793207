/// What the rules of an app say of a queue, in short: equal for all queues of which they say the same, so that queues can be
/// counted.
public struct QueueState: Sendable, Hashable {
    /// Whether the queue is handed over for upload.
    public enum Readiness: String, Sendable, CaseIterable {
        /// The rules call it ready.
        case ready
        /// Something waits in it, and the rules do not call it ready.
        case notReady = "not-ready"
        /// Nothing waits in it.
        case empty
        /// Something waits in it, and no file tells its rules.
        case unknown
    }

    /// Whether it is ready.
    public let readiness: Readiness
    /// The code of the reason, such as `too-many`.
    public let code: String
    /// The reason in words, without a full stop and without numbers.
    public let text: String

    /// Puts a state together.
    public init(_ readiness: Readiness, _ code: String, _ text: String) {
        self.readiness = readiness
        self.code = code
        self.text = text
    }
}
