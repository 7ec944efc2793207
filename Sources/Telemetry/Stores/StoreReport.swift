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

    /// The sequence number that a client used last for its uploads of one type, as the app stored it.
    public struct Counter: Sendable, Equatable {
        /// The system of the client.
        public let system: SystemName
        /// The id of the client.
        @CapturedText public private(set) var client: String
        /// The type of the uploads.
        @CapturedText public private(set) var type: String
        /// The last number.
        public let lastNumber: Int64

        /// Creates a counter.
        public init(system: SystemName, client: String, type: String, lastNumber: Int64) {
            self.system = system
            self.lastNumber = lastNumber
            self.client = client
            self.type = type
        }

        /// Returns a sentence about the numbers after the number of the newest ping, or `nil` if there are none.
        public func fact(newestNumber newest: Int64) -> String? {
            guard newest >= 0, newest < lastNumber else { return nil }
            let range = newest + 1 == lastNumber ? "\(lastNumber)" : "\(newest + 1)-\(lastNumber)"
            let numbers = Int(lastNumber - newest).counted("number")
            return "\(type): the counter is \(lastNumber) and the newest ping has \(newest), so that \(numbers) at the "
                + "end (\(range)) were sent by the app or lost"
        }
    }

    /// The statements about the store as a whole, each a sentence without a full stop.
    public var facts: [String]
    /// The reports on parts of the store.
    public var parts: [Part]
    /// The counters in the store.
    public var counters: [Counter]
    /// The latest time that the store contains, in milliseconds since 1970.
    ///
    /// By default, queues are evaluated at this time.
    public var newest: Int64

    /// Creates a report on a store.
    public init(facts: [String] = [], parts: [Part] = [], counters: [Counter] = [], newest: Int64 = 0) {
        self.facts = facts
        self.counters = counters
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
