/// What a queue file says of its queue, as far as the SDK's rules go by it.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 3.3 and 7.
public struct SiftQueue: Sendable, Equatable {
    /// The path below the folder of the queues.
    public let identifier: String
    /// How many events wait, whether they can be converted or not.
    public let pending: Int
    /// The SDK that wrote the file, as far as its rules differ.
    public let era: SiftQueueRules.Era
    /// The instant that the queue's clock keeps, in milliseconds since 1970; 0 is never.
    public let last: Int64
    /// The time of the last accepted event, pending or not, in milliseconds since 1970.
    public let lastEvent: Int64?
    /// How many of the events that wait are essentially equal to the one before them; nil if that is unknown, or was not asked for.
    public let repetitions: Int?

    /// Makes a queue.
    public init(
        identifier: String, pending: Int, era: SiftQueueRules.Era, last: Int64, lastEvent: Int64?,
        repetitions: Int? = nil
    ) {
        self.identifier = identifier
        self.pending = pending
        self.era = era
        self.last = last
        self.lastEvent = lastEvent
        self.repetitions = repetitions
    }

    /// The rules of the queue; nil for one of the host's, whose rules no file tells.
    public var rules: SiftQueueRules? { SiftQueueRules(queue: identifier, era: era) }

    /// Whether the queue is ready for upload at an instant; nil if its rules are unknown.
    public func readiness(at now: Int64) -> SiftQueueRules.Readiness? {
        pending == 0 ? .empty : rules?.readiness(pending: pending, last: last, now: now)
    }

    /// The instant from which an event is accepted that equals the last one in all but its time; nil if it is at once, or
    /// if the rules are unknown.
    public var acceptsEqualEvent: Int64? {
        lastEvent.flatMap { rules?.acceptsEqualEvent(afterEventAt: $0, last: last) }
    }
}

extension SiftQueue {
    /// Whether the queue is ready for upload at an instant, and why, in a sentence.
    public func sentence(at now: Int64) -> String {
        guard let readiness = readiness(at: now) else {
            return "\(events) pending; when they are ready is a rule of the app"
        }
        switch readiness {
        case .empty: return "nothing pending"
        case .tooMany(let limit): return "ready for upload: \(events) pending, more than \(limit)"
        case .tooOld(let seconds):
            return "ready for upload: \(events) pending, more than \(seconds) s after \(lastInWords)"
        case .waiting(let until, let limit):
            let conditions = [
                limit.map { "with more than \($0)" }, until.map { "from \(Self.text(of: $0)) on" },
            ].compactMap(\.self)
            let rest = conditions.isEmpty ? "never by itself" : "ready \(conditions.joined(separator: " or "))"
            return "not ready: \(events) pending; \(rest)"
        }
    }

    private var events: String { pending == 1 ? "1 event" : "\(pending) events" }

    private var lastInWords: String {
        let what = era == .current ? "the last upload request" : "the last event was added"
        return last == 0 ? "\(what) (never)" : "\(what) (\(Self.text(of: last)))"
    }

    private static func text(of instant: Int64) -> String {
        Timestamp(milliseconds: instant)?.description ?? "\(instant) ms"
    }
}

/// What became of the events of a file.
public struct SiftCounts: Sendable, Equatable {
    /// Events in the file.
    public var pending = 0
    /// Events in requests.
    public var emitted = 0
    /// Events of a queue that a batch has too.
    public var absorbed = 0
    /// Events that the SDK's own check refuses.
    public var skipped = 0
    /// Events that could not be read.
    public var lost = 0

    /// Makes counts of nothing.
    public init() {}
}

/// What a folder of the SDK holds besides requests.
public struct SiftReport: Sendable {
    /// The uploader or a queue.
    public struct Source: Sendable, Equatable {
        /// The number of the file, in the order in which the files were read.
        public let file: Int
        /// What became of its events.
        public let counts: SiftCounts
        /// The queue, if it is one.
        public let queue: SiftQueue?
    }

    /// The uploader and the queues, in the order in which they were read.
    public internal(set) var sources: [Source] = []
    /// What the other files say, in sentences.
    public internal(set) var facts: [String] = []
    /// The newest instant that any file of the folder tells, in milliseconds since 1970: a capture is not older.
    public internal(set) var newest: Int64 = 0
}
