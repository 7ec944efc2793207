import JSONText
import Telemetry

/// The number of events with each documented meaning.
struct EventCounts {
    private var known: [String: Int] = [:]
    private var unknown = 0

    /// Adds events with the given meaning, or without a documented meaning if `meaning` is `nil`.
    mutating func add(_ count: Int, meaning: String?) {
        if let meaning { known[meaning, default: 0] += count } else { unknown += count }
    }

    mutating func add(_ other: EventCounts) {
        known.merge(other.known, uniquingKeysWith: +)
        unknown += other.unknown
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("known", object: CanonicalObject(counts: known))
        object.set("unknown", integer: unknown)
        return object
    }
}
