import Console
import JSONText
import Telemetry

/// The number of records that a filter rejected because they have no time, and the conditions that no record meets.
struct FilterSummary {
    private let withoutTimeCount: Int
    private let unmatchedConditions: [FilterFindings.Unmatched]

    init(_ findings: FilterFindings, of filter: RecordFilter) {
        withoutTimeCount = findings.withoutTime
        unmatchedConditions = findings.unmatched(of: filter)
    }

    /// The lines to print to standard error.
    var lines: [String] {
        var lines = unmatchedConditions.map { "no record matches --\($0.condition) \($0.value)" }
        if withoutTimeCount > 0 {
            let (records, verb) = (Summary.count(withoutTimeCount, "record"), withoutTimeCount == 1 ? "was" : "were")
            lines.append("\(records) without a time \(verb) omitted because --since and --until require one")
        }
        return lines
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("unmatched", objects: unmatchedConditions) { object, unmatched in
            object.set("filter", string: unmatched.condition)
            object.set("value", string: unmatched.value)
        }
        object.set("withoutTime", integer: withoutTimeCount)
        return object
    }
}
