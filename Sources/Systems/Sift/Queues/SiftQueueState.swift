import JSONText
import Telemetry

/// The description of the state of a queue according to the rules of the SDK, in words and as JSON.
extension SiftQueue: QueueRules {
    func sentence(at instant: Int64) -> String {
        let readiness = readinessInWords(at: instant)
        guard let repetitionCount, repetitionCount > 0 else { return readiness }
        let repeated = repetitionCount == 1 ? "1 event repeats" : "\(repetitionCount) events repeat"
        return "\(readiness); \(repeated) the preceding event except for the time"
    }

    func json(at instant: Int64) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("acceptsEqualEvent", string: equalEventAcceptanceTime.flatMap(Self.timestamp))
        object.set("at", string: Self.timestamp(instant))
        object.set("identifier", string: identifier)
        object.set("lastAppend", string: era == .current ? nil : Self.timestamp(clockTime))
        object.set("lastEvent", string: lastEventTime.flatMap(Self.timestamp))
        object.set("lastUpload", string: era == .current ? Self.timestamp(clockTime) : nil)
        object.set("pending", integer: pendingCount)
        if let readiness = readiness(at: instant) {
            object.set("ready", boolean: readiness.isReady)
        } else {
            object.set("ready", string: nil)
        }
        object.set("reason", string: readinessInWords(at: instant))
        if let repetitionCount { object.set("repetitions", integer: repetitionCount) }
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

    private var pendingInWords: String { pendingCount == 1 ? "1 event" : "\(pendingCount) events" }

    private var clockInWords: String {
        let meaning = era == .current ? "the last upload request" : "the last event was added"
        return clockTime == 0 ? "\(meaning) (never)" : "\(meaning) (\(Self.text(of: clockTime)))"
    }

    private static func text(of instant: Int64) -> String {
        Timestamp(milliseconds: instant)?.description ?? "\(instant) ms"
    }
}
