import JSONText

/// The report of a store on itself: facts for the operator, and the state of its queues by the rules of the app.
public struct StoreReport: Sendable {
    /// The report on a part of the store.
    public struct Part: Sendable {
        /// The index of the part in ``Store/parts``.
        public let part: Int
        /// The numbers of pending events by their outcome, or `nil` if the part contains no events.
        public let events: [String: Int]?
        /// The rules of the queue, or `nil` if the part is not a queue.
        public let queue: (any QueueRules)?

        /// Creates a report on a part of a store.
        public init(part: Int, events: [String: Int]?, queue: (any QueueRules)?) {
            self.part = part
            self.events = events
            self.queue = queue
        }
    }

    /// Sentences without a full stop, about the store as a whole.
    public var facts: [String]
    /// The reports on parts of the store.
    public var parts: [Part]
    /// The latest instant in the store, in milliseconds since 1970, at which queues are evaluated by default.
    public var newest: Int64

    /// Creates a report.
    public init(facts: [String] = [], parts: [Part] = [], newest: Int64 = 0) {
        self.facts = facts
        self.parts = parts
        self.newest = newest
    }
}

/// The rules of an app for a queue, evaluated at an instant in milliseconds since 1970.
public protocol QueueRules: Sendable {
    /// Returns a sentence, without a full stop, that states whether the queue is ready for upload and why.
    func sentence(at instant: Int64) -> String
    /// Returns the state of the queue as JSON.
    func json(at instant: Int64) -> CanonicalObject
    /// Returns the state of the queue as a value that can be counted.
    func state(at instant: Int64) -> QueueState
}
