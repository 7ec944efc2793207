import Bundle
import Capture
import Telemetry

/// What was found in one store, or in one bundle.
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
    /// What became of the events of a Sift store.
    var events: SiftCounts?
    var queue: QueueState?
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
