import Bundle
import Capture
import Telemetry

/// What a scan found, store by store. ``ScanListing`` shows it to people, ``ScanJSON`` to machines.
struct ScanReport {
    private(set) var inputs: [ScannedInput]
    /// Problems of no store, those that are shown.
    private(set) var unassignedProblems: [PlacedProblem] = []
    /// All problems, counted by their codes.
    private(set) var problemsByCode = ProblemsByCode()
    /// How many entries of the quarantine there are of each code.
    private(set) var quarantineCounts: [String: Int] = [:]
    /// How many problems there are, and how many are shown: the first ones of all.
    private(set) var problemCount = 0
    private(set) var shownProblemCount = 0
    /// How many entries of the quarantine are shown: the first ones of all.
    private var shownQuarantineCount = 0
    /// The instant to judge queues at; nil for the newest that their store tells.
    private let instant: Timestamp?
    /// The inputs by their labels: problems name them so.
    private let inputsByLabel: [String: Int]

    /// - Parameter instant: when to judge queues; nil for the newest instant that their store tells.
    init(_ captures: [CaptureInput], paths: [String], at instant: Timestamp?) {
        self.instant = instant
        inputs = []
        for (capture, path) in zip(captures, paths) {
            inputs.append(ScannedInput(capture, path: path, firstContainer: inputs.last?.containers.upperBound ?? 0))
        }
        inputsByLabel = Dictionary(inputs.enumerated().map { ($1.label, $0) }) { first, _ in first }
    }

    /// How many problems are not shown.
    var hiddenProblemCount: Int { problemCount - shownProblemCount }

    /// The number of containers. A bundle or a request log counts as one.
    var containerCount: Int { inputs.last?.containers.upperBound ?? 0 }

    /// All rows in their order.
    var rows: some Sequence<ScanRow> {
        inputs.lazy.flatMap { input in input.rowIndices.lazy.map { input.row($0) } }
    }

    /// The apps that the containers belong to. They are determined on each access, from rows whose counts have to be final.
    var containerApps: ContainerApps { ContainerApps(rows, containerCount: containerCount) }

    /// Returns the findings added up by app.
    /// - Parameter apps: The apps that the containers belong to.
    func rollUp(_ apps: ContainerApps) -> AppRollUp { AppRollUp(rows, containerCount: containerCount, apps) }

    /// Counts a record.
    mutating func count(_ entry: ScanOutput.Entry) {
        inputs[entry.input].count(entry.summary, inRow: inputs[entry.input].row(at: entry.place))
    }

    /// Counts the events of a record by their documented meanings.
    mutating func count(_ meanings: [String?], of entry: ScanOutput.Entry) {
        inputs[entry.input].count(meanings, inRow: inputs[entry.input].row(at: entry.place))
    }

    /// Adds a quarantined entry, a problem or the app that a row belongs to.
    mutating func note(_ finding: Intake.Finding) {
        switch finding {
        case .quarantined(let item, let input): note(item, of: input)
        case .problem(let problem): note(problem)
        case .app(let entry, let input): inputs[input].setApp(entry.app, ofRow: inputs[input].row(at: entry.place))
        }
    }

    private mutating func note(_ item: Quarantined, of input: Int) {
        guard let row = inputs[input].row(ofPath: item.path, kind: item.store.description) else { return }
        let isShown = shownQuarantineCount < FirstFew<Quarantined>.shown
        if isShown { shownQuarantineCount += 1 }
        inputs[input].add(item, toRow: row, isShown: isShown)
    }

    private mutating func note(_ problem: PlacedProblem) {
        problemCount += 1
        problemsByCode.add(problem)
        let isShown = shownProblemCount < FirstFew<PlacedProblem>.shown
        if isShown { shownProblemCount += 1 }
        if let input = inputsByLabel[problem.capture], let row = inputs[input].row(ofPath: problem.path) {
            inputs[input].add(problem, toRow: row, isShown: isShown)
        } else if isShown {
            unassignedProblems.append(problem)
        }
    }

    /// Adds the findings that are complete only when all inputs have been read.
    mutating func finish(_ intake: Intake) {
        for entry in intake.reports {
            guard let store = entry.store else { continue }
            let now = instant?.milliseconds ?? entry.report.newest
            inputs[entry.input].add(entry.report, ofStore: store, at: now)
        }
        quarantineCounts = intake.quarantined.counts
    }
}
