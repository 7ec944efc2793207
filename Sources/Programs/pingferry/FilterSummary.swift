import Console
import JSONText
import Telemetry

/// The number of records rejected because they have no time, and the filter conditions that no record meets.
struct FilterSummary {
    private let withoutTime: Int
    private let unmatched: [FilterFindings.Unmatched]

    init(_ findings: FilterFindings, of filter: RecordFilter) {
        withoutTime = findings.withoutTime
        unmatched = findings.unmatched(of: filter)
    }

    /// The lines to print to standard error.
    var lines: [String] {
        var lines = unmatched.map { "no record matches --\($0.condition) \($0.value)" }
        if withoutTime > 0 {
            let (records, verb) = (Summary.count(withoutTime, "record"), withoutTime == 1 ? "was" : "were")
            lines.append("\(records) without a time \(verb) omitted because --since and --until require one")
        }
        return lines
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("unmatched", objects: unmatched) { object, unmatched in
            object.set("filter", string: unmatched.condition)
            object.set("value", string: unmatched.value)
        }
        object.set("withoutTime", integer: withoutTime)
        return object
    }
}
