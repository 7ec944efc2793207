/// The rules of a queue of the SDK, which determine when events are uploaded and which events are discarded.
///
/// The code of the SDK contains the rules of its two queues. The rules of the app's own queues are unknown. All times
/// are in milliseconds since 1970.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.
struct SiftQueueRules: Sendable, Equatable {
    /// The meaning of the timestamp that a queue stores.
    enum Clock: Sendable, Equatable {
        /// The time of the last upload request, since version 0.9.7.
        case lastUpload
        /// The time of the last added event, up to version 0.9.6.
        case lastAppend
    }

    /// The meaning of the timestamp from which the age of the queue is measured.
    let clock: Clock
    /// The number of pending events above which a queue is ready for upload.
    let uploadWhenMoreThan: Int
    /// The age in seconds above which a queue with pending events is ready for upload.
    let uploadWhenOlderThan: Int64
    /// The number of seconds for which an event that is essentially equal to the last one is discarded, or 0 if never.
    let acceptSameEventAfter: Int64
}

extension SiftQueueRules {
    /// A range of SDK versions with the same rules.
    enum Era: Sendable, Equatable {
        /// Version 0.1.
        case first
        /// Versions 0.9.0 to 0.9.3.
        case second
        /// Versions 0.9.4 to 0.9.6.
        case third
        /// Version 0.9.7 and later.
        case current
    }

    /// Creates the rules of a queue (section 7.1), or returns `nil` if the queue belongs to the app.
    init?(queue identifier: String, era: Era) {
        let rules: (moreThan: Int, olderThan: Int64, sameAfter: Int64)? =
            switch (identifier, era) {
            case ("sift-default", .first): (512, 60, 0)
            case ("sift-default", _): (32, 60, 0)
            case ("sift-devprops", .first): (8, 60, 600)
            case ("sift-devprops", .second): (8, 60, 3600)
            case ("sift-devprops", _): (0, 0, 3600)
            default: nil
            }
        guard let rules else { return nil }
        self.init(
            clock: era == .current ? .lastUpload : .lastAppend, uploadWhenMoreThan: rules.moreThan,
            uploadWhenOlderThan: rules.olderThan, acceptSameEventAfter: rules.sameAfter)
    }
}

// MARK: - Readiness

extension SiftQueueRules {
    /// The reason why a queue is or is not ready for upload.
    enum Readiness: Sendable, Equatable {
        /// No events are pending.
        case empty
        /// More than `limit` events are pending.
        case tooMany(limit: Int)
        /// Events are pending, and the queue is older than `seconds`.
        case tooOld(seconds: Int64)
        /// The queue becomes ready when more than `limit` events are pending or, unless `until` is `nil`, at `until`.
        case waiting(until: Int64?, limit: Int)

        /// Whether the queue uploads its events when the next event is added.
        var isReady: Bool {
            switch self {
            case .tooMany, .tooOld: true
            case .empty, .waiting: false
            }
        }
    }

    /// Returns whether the queue is ready at `now`, and why (section 7.2).
    func readiness(pendingCount: Int, clockTime: Int64, now: Int64) -> Readiness {
        if pendingCount > uploadWhenMoreThan { return .tooMany(limit: uploadWhenMoreThan) }
        guard pendingCount > 0 else { return .empty }
        let readyTime = Self.instant(clockTime, plusSeconds: uploadWhenOlderThan)
        if now > readyTime { return .tooOld(seconds: uploadWhenOlderThan) }
        return .waiting(until: readyTime == .max ? nil : readyTime + 1, limit: uploadWhenMoreThan)
    }
}

// MARK: - Duplicate suppression

extension SiftQueueRules {
    /// Returns the time from which the queue accepts an event that is essentially equal to the last one (section 7.3).
    ///
    /// - Returns: The time, `nil` if the event is accepted at any time, or `Int64.max` if it is never accepted.
    func equalEventAcceptanceTime(afterEventAt lastEvent: Int64, clockTime: Int64) -> Int64? {
        guard acceptSameEventAfter > 0 else { return nil }
        return Self.instant(clock == .lastUpload ? lastEvent : clockTime, plusSeconds: acceptSameEventAfter)
    }

    /// Returns the time `seconds` after `instant`, or `Int64.max` if the result overflows.
    private static func instant(_ instant: Int64, plusSeconds seconds: Int64) -> Int64 {
        let (sum, overflows) = instant.addingReportingOverflow(seconds * 1000)
        return overflows ? .max : sum
    }
}
