import Bytes
import JSONText

/// A report on the contents of a store and the state of its queues.
public struct StoreReport: Sendable {
    /// The report on a part of the store.
    public struct Part: Sendable {
        /// The index of the part in ``Store/parts``.
        public let part: Int
        /// The number of events in each category, such as `pending`, or `nil` if the report counts no events.
        public let events: [CapturedText: Int]?
        /// The rules of the queue, or `nil` if the part is not a queue.
        public let queue: (any QueueRules)?

        /// Creates a report on a part of a store.
        public init(part: Int, events: [CapturedText: Int]?, queue: (any QueueRules)?) {
            self.part = part
            self.events = events
            self.queue = queue
        }
    }

    /// The statements about the store as a whole, each a sentence without a full stop.
    public var facts: [String]
    /// The reports on parts of the store.
    public var parts: [Part]
    /// The latest time that the store contains, in milliseconds since 1970.
    ///
    /// By default, queues are evaluated at this time.
    public var newest: Int64

    /// Creates a report on a store.
    public init(facts: [String] = [], parts: [Part] = [], newest: Int64 = 0) {
        self.facts = facts
        self.parts = parts
        self.newest = newest
    }
}

/// The rules that decide whether a queue is ready for upload.
///
/// Instants are in milliseconds since 1970.
public protocol QueueRules: Sendable {
    /// Returns a sentence, without a full stop, that explains whether the queue is ready for upload.
    func sentence(at instant: Int64) -> String
    /// Returns the state of the queue at `instant` as JSON.
    func json(at instant: Int64) -> CanonicalObject
    /// Returns the readiness of the queue for upload at `instant`, and the reason.
    func state(at instant: Int64) -> QueueState
}
