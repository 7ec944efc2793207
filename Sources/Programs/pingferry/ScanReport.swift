import Bundle
import Capture
import Telemetry

/// What a scan found, store by store. ``ScanTables`` shows it to people, ``ScanJSON`` to machines.
struct ScanReport {
    private(set) var inputs: [ScannedInput]
    /// Problems of no store, those that are shown.
    private(set) var strayProblems: [PlacedProblem] = []
    /// All problems, counted by their codes.
    private(set) var problemsByCode = ProblemsByCode()
    /// How many entries of the quarantine there are of each code.
    private(set) var quarantineCounts: [String: Int] = [:]
    /// How many problems there are, and how many are shown: the first ones of all.
    private(set) var problemCount = 0
    private(set) var shownProblems = 0
    /// How many entries of the quarantine are shown: the first ones of all.
    private var shownQuarantined = 0
    /// The instant to judge queues at; nil for the newest that their store tells.
    private let instant: Timestamp?
    /// The inputs by their labels: problems name them so.
    private let inputsByLabel: [String: Int]

    /// - Parameter instant: when to judge queues; nil for the newest instant that their store tells.
    init(_ captures: [CaptureInput], paths: [String], at instant: Timestamp?) {
        self.instant = instant
        inputs = zip(captures, paths).map { ScannedInput($0, path: $1) }
        inputsByLabel = Dictionary(inputs.enumerated().map { ($1.label, $0) }) { first, _ in first }
    }

    /// How many problems are not shown.
    var leftProblems: Int { problemCount - shownProblems }

    /// All rows in their order.
    var rows: some Sequence<ScanRow> { inputs.lazy.flatMap { $0.stores.lazy.flatMap(\.rows) } }

    /// Counts a record.
    mutating func count(_ entry: Batch.Entry) {
        inputs[entry.input].update(entry.row) { $0.count(entry.summary) }
    }

    /// Counts what the events of a record mean.
    mutating func count(_ labels: [String?], of entry: Batch.Entry) {
        inputs[entry.input].update(entry.row) { $0.labels.count(labels) }
    }

    /// Takes what could not be understood, or what is worth telling.
    mutating func note(_ finding: Intake.Finding) {
        switch finding {
        case .quarantined(let entry): note(entry)
        case .problem(let problem): note(problem)
        case .app(let entry): inputs[entry.input].update(entry.row) { $0.learn(entry.app) }
        }
    }

    private mutating func note(_ entry: Batch.QuarantineEntry) {
        let item = entry.item
        guard let row = inputs[entry.input].place(ofPath: item.path, kind: item.store.description) else { return }
        let isShown = shownQuarantined < FirstFew<Quarantined>.shown
        if isShown { shownQuarantined += 1 }
        inputs[entry.input].update(row) { row in
            row.quarantineCount += 1
            if isShown { row.quarantined.append(item) }
        }
    }

    private mutating func note(_ problem: PlacedProblem) {
        problemCount += 1
        problemsByCode.add(problem)
        let isShown = shownProblems < FirstFew<PlacedProblem>.shown
        if isShown { shownProblems += 1 }
        if let input = inputsByLabel[problem.capture], let row = inputs[input].place(ofPath: problem.path) {
            inputs[input].update(row) { row in
                row.problemCount += 1
                if isShown { row.problems.append(problem) }
            }
        } else if isShown {
            strayProblems.append(problem)
        }
    }

    /// Adds what is known when everything was read.
    mutating func finish(_ intake: Intake) {
        for entry in intake.reports { add(entry) }
        quarantineCounts = intake.quarantined.counts
    }

    private mutating func add(_ entry: Batch.ReportEntry) {
        let now = instant?.milliseconds ?? entry.report.newest
        inputs[entry.input].update(ScannedInput.Place(store: entry.store, part: 0)) { $0.facts += entry.report.facts }
        for part in entry.report.parts {
            inputs[entry.input].update(ScannedInput.Place(store: entry.store, part: part.part)) { row in
                row.events = part.events
                row.queue = part.queue.map { JudgedQueue(rules: $0, instant: now) }
            }
        }
    }
}
