/// The stored state of a queue, which determines whether the queue is ready for upload.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 3.3 and 7.
struct SiftQueue: Sendable, Equatable {
    /// The path of the queue file, relative to the folder of the queues.
    let identifier: String
    /// The number of pending events, including events that cannot be converted.
    let pendingCount: Int
    /// The era of the SDK version that wrote the file.
    let era: SiftQueueRules.Era
    /// The stored time of the last upload request or of the last added event, in milliseconds since 1970, or 0 if there
    /// was none yet.
    ///
    /// ``SiftQueueRules/Clock`` describes which of the two times each SDK version stores.
    let clockTime: Int64
    /// The time of the last accepted event in milliseconds since 1970, or `nil` if it is unknown.
    ///
    /// The event may no longer be pending.
    let lastEventTime: Int64?
    /// The number of pending events that are essentially equal to the preceding event, or `nil` if events were not
    /// compared.
    let repetitionCount: Int?

    /// The rules of the queue, or `nil` if they are unknown, because the queue belongs to the app.
    var rules: SiftQueueRules? { SiftQueueRules(queue: identifier, era: era) }

    /// Returns whether the queue is ready for upload at `now`, or `nil` if its rules are unknown.
    func readiness(at now: Int64) -> SiftQueueRules.Readiness? {
        pendingCount == 0 ? .empty : rules?.readiness(pendingCount: pendingCount, clockTime: clockTime, now: now)
    }

    /// The time, in milliseconds since 1970, from which the queue accepts an event that equals the last event except
    /// for its time.
    ///
    /// The value is `nil` if such an event is accepted at any time, or if the last event or the rules are unknown.
    var equalEventAcceptanceTime: Int64? {
        lastEventTime.flatMap { rules?.equalEventAcceptanceTime(afterEventAt: $0, clockTime: clockTime) }
    }
}
