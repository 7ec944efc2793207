import JSONText

/// The report of a store about itself: facts for people, and what the app's own rules say of its queues.
public struct StoreReport: Sendable {
    /// The report on a part of the store.
    public struct Part: Sendable {
        /// The place of the part among ``Store/parts``.
        public let part: Int
        /// Counts of the events that wait in it, by the word for what became of them; nil if the part holds no events.
        public let events: [String: Int]?
        /// The queue that the part is; nil if it is none.
        public let queue: (any QueueRules)?

        /// Reports on a part of the store.
        public init(part: Int, events: [String: Int]?, queue: (any QueueRules)?) {
            self.part = part
            self.events = events
            self.queue = queue
        }
    }

    /// Sentences without a full stop, about the store as a whole.
    public var facts: [String]
    /// The parts that there is something to tell of.
    public var parts: [Part]
    /// The newest instant that the store tells, in milliseconds since 1970: queues are judged at it where no other is given.
    public var newest: Int64

    /// Collects the facts that there are; a store may have none.
    public init(facts: [String] = [], parts: [Part] = [], newest: Int64 = 0) {
        self.facts = facts
        self.parts = parts
        self.newest = newest
    }
}

/// The rules of an app for a queue. What they say depends on the instant.
public protocol QueueRules: Sendable {
    /// Whether the queue is ready for upload, and why: a sentence without a full stop.
    /// - Parameter instant: in milliseconds since 1970.
    func sentence(at instant: Int64) -> String
    /// The same for machines.
    func json(at instant: Int64) -> CanonicalObject
    /// The same in short, to be counted.
    func state(at instant: Int64) -> QueueState
}
