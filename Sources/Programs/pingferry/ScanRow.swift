import Bundle
import Capture
import JSONText
import Telemetry

/// What was found in one part of a store, in one bundle or in one request log.
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
    /// How many problems there are, and those of them that are shown.
    var problemCount = 0
    var problems: [PlacedProblem] = []
    var labels = EventCounts()
    /// Counts of the events that wait in the store, by the name of what became of them.
    var events: [String: Int]?
    var queue: JudgedQueue?
    /// What else there is to tell, in sentences.
    var facts: [String] = []

    /// Counts a record.
    mutating func count(_ record: RecordSummary) {
        totals.count(record)
        systems.insert(record.system.description)
    }

    /// Learns of the app from records, of which the last one tells its latest version.
    mutating func learn(_ found: App) {
        guard isOfOneApp else { return }
        app = app.map { found.filled(from: $0) } ?? found
    }
}

/// A queue as its app's own rules see it at an instant.
struct JudgedQueue {
    let rules: any QueueRules
    /// In milliseconds since 1970.
    let instant: Int64

    var state: QueueState { rules.state(at: instant) }
    var sentence: String { rules.sentence(at: instant) }
    var json: CanonicalObject { rules.json(at: instant) }
}
