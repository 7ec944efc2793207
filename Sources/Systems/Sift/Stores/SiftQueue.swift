import Bytes
import JSONText
import Telemetry

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

// MARK: - Description

/// The description of the state of a queue according to the rules of the SDK, in words and as JSON.
extension SiftQueue: QueueRules {
    func sentence(at instant: Int64) -> String {
        let readiness = readinessInWords(at: instant)
        guard let repetitionCount, repetitionCount > 0 else { return readiness }
        let repeated = repetitionCount.counted("event repeats", plural: "events repeat")
        return "\(readiness); \(repeated) the preceding event except for the time"
    }

    func json(at instant: Int64) -> CanonicalObject {
        var object: CanonicalObject = [
            "acceptsEqualEvent": equalEventAcceptanceTime.flatMap(Self.timestamp), "at": Self.timestamp(instant),
            "identifier": identifier, "lastAppend": era == .current ? nil : Self.timestamp(clockTime),
            "lastEvent": lastEventTime.flatMap(Self.timestamp),
            "lastUpload": era == .current ? Self.timestamp(clockTime) : nil, "pending": pendingCount,
            "ready": readiness(at: instant)?.isReady, "reason": readinessInWords(at: instant),
        ]
        if let repetitionCount { object.set("repetitions", repetitionCount) }
        return object
    }

    func state(at instant: Int64) -> QueueState {
        guard let readiness = readiness(at: instant) else {
            return QueueState(.unknown, "rule-of-app", "the app decides when they are uploaded")
        }
        return switch readiness {
        case .empty: QueueState(.empty, "empty", "nothing is pending")
        case .tooMany: QueueState(.ready, "too-many", "more pending events than allowed")
        case .tooOld: QueueState(.ready, "too-old", "enough time since the last upload or event")
        case .waiting(until: nil, _): QueueState(.notReady, "never-by-itself", "they do not become ready by age")
        case .waiting: QueueState(.notReady, "too-few", "too few events, too soon after the last upload or event")
        }
    }

    /// Returns a time in RFC 3339 format, or `nil` if it is 0 (never) or outside the range of RFC 3339.
    private static func timestamp(_ instant: Int64) -> String? {
        instant == 0 ? nil : Timestamp(milliseconds: instant)?.description
    }
}

extension SiftQueue {
    /// Returns a text that describes whether and why the queue is ready for upload at `now`.
    private func readinessInWords(at now: Int64) -> String {
        guard let readiness = readiness(at: now) else {
            return "\(pendingInWords) pending; the app decides when they are uploaded"
        }
        switch readiness {
        case .empty: return "nothing pending"
        case .tooMany(let limit): return "ready for upload: \(pendingInWords) pending, more than \(limit)"
        case .tooOld(let seconds):
            return "ready for upload: \(pendingInWords) pending, more than \(seconds) s after \(clockInWords)"
        case .waiting(let until, let limit):
            let later = until.map { " or from \(Self.text(of: $0)) on" } ?? ""
            return "not ready: \(pendingInWords) pending; ready with more than \(limit)\(later)"
        }
    }

    private var pendingInWords: String { pendingCount.counted("event") }

    private var clockInWords: String {
        let meaning = era == .current ? "the last upload request" : "the last event was added"
        return clockTime == 0 ? "\(meaning) (never)" : "\(meaning) (\(Self.text(of: clockTime)))"
    }

    private static func text(of instant: Int64) -> String {
        Timestamp(milliseconds: instant)?.description ?? "\(instant) ms"
    }
}

// MARK: - Rules

/// The rules of a queue of the SDK, which determine when events are uploaded and which events are discarded.
///
/// The code of the SDK contains the rules of its two queues. The rules of the app's own queues are unknown. All times
/// are in milliseconds since 1970.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.
struct SiftQueueRules: Sendable, Equatable {
    /// The versions of the SDK with these rules.
    let era: Era
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
            era: era, uploadWhenMoreThan: rules.moreThan, uploadWhenOlderThan: rules.olderThan,
            acceptSameEventAfter: rules.sameAfter)
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
        return Self.instant(era == .current ? lastEvent : clockTime, plusSeconds: acceptSameEventAfter)
    }

    /// Returns the time `seconds` after `instant`, or `Int64.max` if the result overflows.
    private static func instant(_ instant: Int64, plusSeconds seconds: Int64) -> Int64 {
        let (sum, overflows) = instant.addingReportingOverflow(seconds * 1000)
        return overflows ? .max : sum
    }
}
