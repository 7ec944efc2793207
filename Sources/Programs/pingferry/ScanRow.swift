import Bundle
import Capture
import JSONText
import Telemetry

/// A row of the report of `scan`: one store, or one bundle.
struct ScanRow {
    let capture: String
    let container: Container?
    let kind: String
    let path: String
    /// Whether all records are of the app that the store belongs to.
    let isOfOneApp: Bool
    var app: App?
    var systems: Set<String> = []
    var totals = BundleTotals()
    /// How many entries of the quarantine there are, and those of them that are shown.
    var quarantineCount = 0
    var quarantined: [Quarantined] = []
    var problems: [PlacedProblem] = []
    var labels = EventCounts()
    /// Counts of the events that wait in the store, by the name of what became of them.
    var events: [String: Int]?
    var queue: JudgedQueue?
    /// What else there is to tell, in sentences.
    var facts: [String] = []
    /// Path of the store that the row is a part of.
    var store = ""

    /// What stands below the table about the row, under the path of its store.
    var details: [String] {
        let name = path.hasPrefix(store + "/") ? String(path.dropFirst(store.count + 1)) : path
        return facts + [queue.map { "\(name): \($0.sentence)" }].compactMap(\.self)
    }
}

/// A queue as its app's own rules see it at an instant.
struct JudgedQueue {
    let rules: any QueueRules
    /// In milliseconds since 1970.
    let instant: Int64

    var sentence: String { rules.sentence(at: instant) }
    var json: CanonicalObject { rules.json(at: instant) }
}
