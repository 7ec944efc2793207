import JSONText
import Telemetry

/// How often events of each documented meaning were met.
struct EventCounts {
    private var known: [String: Int] = [:]
    private var unknown = 0

    /// Counts the events of a payload; nil is one that no table has.
    mutating func count(_ labels: [String?]) {
        for label in labels {
            if let label { known[label, default: 0] += 1 } else { unknown += 1 }
        }
    }

    /// Adds other counts.
    mutating func add(_ other: EventCounts) {
        known.merge(other.known, uniquingKeysWith: +)
        unknown += other.unknown
    }

    /// Counts by meaning, and `unknown`.
    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("known", object: CanonicalObject(counts: known))
        object.set("unknown", integer: unknown)
        return object
    }
}
