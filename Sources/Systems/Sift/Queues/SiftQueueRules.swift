/// The rules of one of the SDK's own two queues: when it hands its events over, and which events it discards.
///
/// Pure functions of what an archive tells and of an instant. All instants are milliseconds since 1970. The rules are compiled
/// into the SDK. Those of the host's queues are the host's and unknown.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.
struct SiftQueueRules: Sendable, Equatable {
    /// The timestamp that a queue keeps: ages are counted from it.
    enum Clock: Sendable, Equatable {
        /// Since v0.9.7: the time of the last upload request.
        case lastUpload
        /// Up to v0.9.6: the time of the last append.
        case lastAppend
    }

    /// The instant from which ages are counted.
    let clock: Clock
    /// More events than these make the queue ready.
    let uploadWhenMoreThan: Int
    /// Seconds after which any event makes the queue ready.
    let uploadWhenOlderThan: Int64
    /// Seconds for which an event that equals the last one is discarded; 0 if none is.
    let acceptSameEventAfter: Int64
}

extension SiftQueueRules {
    /// The versions of the SDK between which the rules changed.
    enum Era: Sendable, Equatable {
        /// v0.1.x.
        case first
        /// v0.9.0 to v0.9.3.
        case second
        /// v0.9.4 to v0.9.6.
        case third
        /// v0.9.7 and later.
        case current
    }

    /// The rules of a queue (section 7.1); nil for a queue of the host.
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
    /// Whether a queue is ready for upload, and why.
    enum Readiness: Sendable, Equatable {
        /// No event waits.
        case empty
        /// There are more events than the rules let wait.
        case tooMany(limit: Int)
        /// Events are pending, and more than this many seconds have passed.
        case tooOld(seconds: Int64)
        /// Not ready before an instant, unless more than `limit` events are pending. An instant of nil never comes.
        case waiting(until: Int64?, limit: Int)

        /// Whether the queue hands its events over at its next append.
        var isReady: Bool {
            switch self {
            case .tooMany, .tooOld: true
            case .empty, .waiting: false
            }
        }
    }

    /// Whether the queue is ready (section 7.2).
    ///
    /// - Parameters:
    ///   - pending: how many events it holds.
    ///   - last: the instant that its clock keeps; 0 is never.
    ///   - now: the instant to judge at.
    func readiness(pending: Int, last: Int64, now: Int64) -> Readiness {
        if pending > uploadWhenMoreThan { return .tooMany(limit: uploadWhenMoreThan) }
        guard pending > 0 else { return .empty }
        let due = Self.instant(last, plusSeconds: uploadWhenOlderThan)
        if now > due { return .tooOld(seconds: uploadWhenOlderThan) }
        return .waiting(until: due == .max ? nil : due + 1, limit: uploadWhenMoreThan)
    }
}

// MARK: - Duplicate suppression

extension SiftQueueRules {
    /// The instant from which the queue takes an event again that equals its last accepted one in all but the time
    /// (section 7.3); nil if it always does, the largest number if it never does.
    ///
    /// - Parameters:
    ///   - lastEvent: the time of the last accepted event.
    ///   - last: the instant that the queue's clock keeps.
    func acceptsEqualEvent(afterEventAt lastEvent: Int64, last: Int64) -> Int64? {
        guard acceptSameEventAfter > 0 else { return nil }
        return Self.instant(clock == .lastUpload ? lastEvent : last, plusSeconds: acceptSameEventAfter)
    }

    /// An instant some seconds after another, held at the largest number.
    private static func instant(_ instant: Int64, plusSeconds seconds: Int64) -> Int64 {
        let (sum, overflows) = instant.addingReportingOverflow(seconds * 1000)
        return overflows ? .max : sum
    }
}
