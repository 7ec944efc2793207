import Bytes
import JSONText
import Telemetry

/// The number of events with each documented meaning.
struct EventCounts {
    private var countsByMeaning: [CapturedText: Int] = [:]
    private var unknownCount = 0

    /// Adds events with the given meaning, or without a documented meaning if `meaning` is `nil`.
    mutating func add(_ count: Int, meaning: String?) {
        if let meaning { countsByMeaning[meaning, default: 0] += count } else { unknownCount += count }
    }

    mutating func add(_ other: EventCounts) {
        countsByMeaning.merge(other.countsByMeaning, uniquingKeysWith: +)
        unknownCount += other.unknownCount
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("known", object: CanonicalObject(counts: countsByMeaning))
        object.set("unknown", integer: unknownCount)
        return object
    }
}
