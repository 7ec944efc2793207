/// The state of a queue as its file has it, as far as the SDK's rules depend on it.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 3.3 and 7.
struct SiftQueue: Sendable, Equatable {
    /// The path below the folder of the queues.
    let identifier: String
    /// How many events wait, whether they can be converted or not.
    let pending: Int
    /// The SDK that wrote the file, as far as its rules differ.
    let era: SiftQueueRules.Era
    /// The instant that the queue's clock keeps, in milliseconds since 1970; 0 is never.
    let last: Int64
    /// The time of the last accepted event, pending or not, in milliseconds since 1970.
    let lastEvent: Int64?
    /// How many of the events that wait are essentially equal to the one before them; nil if that is unknown, or was not asked for.
    let repetitions: Int?

    /// The rules of the queue; nil for one of the host's, whose rules no file tells.
    var rules: SiftQueueRules? { SiftQueueRules(queue: identifier, era: era) }

    /// Whether the queue is ready for upload at an instant; nil if its rules are unknown.
    func readiness(at now: Int64) -> SiftQueueRules.Readiness? {
        pending == 0 ? .empty : rules?.readiness(pending: pending, last: last, now: now)
    }

    /// The instant from which an event is accepted that equals the last one in all but its time; nil if it is at once, or
    /// if the rules are unknown.
    var acceptsEqualEvent: Int64? {
        lastEvent.flatMap { rules?.acceptsEqualEvent(afterEventAt: $0, last: last) }
    }
}
