import Bundle
import Bytes
import Capture
import Console
import Telemetry

/// The findings of a scan, grouped by store.
///
/// ``ScanListing`` and ``AppListing`` print them as text, and ``ScanJSON`` as JSON.
struct ScanReport {
    private(set) var inputs: [ScannedInput]
    /// The shown problems that do not belong to a store.
    private(set) var unassignedProblems: [LocatedProblem] = []
    private(set) var problemsByCode = ProblemsByCode()
    /// The number of quarantined entries with each code.
    private(set) var quarantineCounts: [CapturedText: Int] = [:]
    private(set) var problemCount = 0
    /// The number of shown problems, which is limited.
    private(set) var shownProblemCount = 0
    /// The number of shown quarantined entries, which is limited.
    private var shownQuarantineCount = 0
    /// The time at which the states of queues are evaluated, or `nil` for the latest time in each queue's store.
    private let instant: Timestamp?
    /// The indices of the inputs, by the labels with which problems refer to them.
    private let inputIndicesByLabel: [CapturedText: Int]

    /// Creates a report without findings.
    init(_ captures: [CaptureInput], paths: [String], at instant: Timestamp?) {
        self.instant = instant
        inputs = []
        for (capture, path) in zip(captures, paths) {
            inputs.append(ScannedInput(capture, path: path, firstContainer: inputs.last?.containers.upperBound ?? 0))
        }
        inputIndicesByLabel = Dictionary(inputs.enumerated().map { (CapturedText($1.label), $0) }) { first, _ in first }
    }

    var hiddenProblemCount: Int { problemCount - shownProblemCount }

    /// The number of containers, where each bundle and each request log counts as one.
    var containerCount: Int { inputs.last?.containers.upperBound ?? 0 }

    var rows: some Sequence<ScanRow> {
        inputs.lazy.flatMap { input in input.rowIndices.lazy.map { input.row($0) } }
    }

    /// The apps of the containers, which are determined on each access from rows whose counts must be final.
    var containerApps: ContainerApps { ContainerApps(rows) }

    /// Returns the findings grouped by app, with `apps` as the apps of the containers.
    func rollUp(_ apps: ContainerApps) -> AppRollUp { AppRollUp(rows, containerCount: containerCount, apps) }

    mutating func count(_ entry: borrowing ScanOutput.Entry) {
        inputs[entry.input].count(entry.summary, inRow: inputs[entry.input].row(at: entry.place))
    }

    /// Counts the events of a record by their meanings, which are `nil` for undocumented events.
    mutating func count(_ meanings: [String?], of entry: ScanOutput.Entry) {
        inputs[entry.input].count(meanings, inRow: inputs[entry.input].row(at: entry.place))
    }

    /// Adds a finding: a quarantined entry, a problem, or the app to which a row belongs.
    mutating func note(_ finding: Intake.Finding) {
        switch finding {
        case .quarantined(let item, let input): note(item, of: input)
        case .problem(let problem): note(problem)
        case .app(let entry, let input): inputs[input].add(entry, toRow: inputs[input].row(at: entry.place))
        }
    }

    private mutating func note(_ item: QuarantineEntry, of input: Int) {
        guard let row = inputs[input].row(ofPath: item.path, kind: item.store.description) else { return }
        let isShown = shownQuarantineCount < CappedList<QuarantineEntry>.defaultLimit
        if isShown { shownQuarantineCount += 1 }
        inputs[input].add(item, toRow: row, isShown: isShown)
    }

    private mutating func note(_ problem: LocatedProblem) {
        problemCount += 1
        problemsByCode.add(problem)
        let isShown = shownProblemCount < CappedList<LocatedProblem>.defaultLimit
        if isShown { shownProblemCount += 1 }
        if let input = inputIndicesByLabel[problem.capture], let row = inputs[input].row(ofPath: problem.path) {
            inputs[input].add(problem, toRow: row, isShown: isShown)
        } else if isShown {
            unassignedProblems.append(problem)
        }
    }

    /// Adds the findings that are complete only after all inputs have been read.
    mutating func finish(_ intake: Intake) {
        for entry in intake.reports {
            guard let store = entry.store else { continue }
            let now = instant?.milliseconds ?? entry.report.newest
            inputs[entry.input].add(entry.report, ofStore: store, at: now)
        }
        quarantineCounts = intake.quarantinedItems.countsByCode
    }
}

/// The number of problems with each code, and the first few problems with that code.
struct ProblemsByCode {
    private var groups: [CapturedText: CappedList<LocatedProblem>] = [:]

    /// The maximum number of problems that are kept for each code.
    private static let maximumShownPerCode = 3
    /// The maximum number of distinct codes, after which further codes are counted as `other`.
    private static let maximumCodeCount = 1000

    mutating func add(_ problem: LocatedProblem) {
        let code = problem.problem.code
        let group = groups[code] != nil || groups.count < Self.maximumCodeCount ? code : "other"
        groups[group, default: CappedList(limit: Self.maximumShownPerCode)].add(problem, reason: code)
    }

    /// The groups of problems, sorted by code.
    var sorted: [(code: String, problems: CappedList<LocatedProblem>)] {
        groups.sorted { $0.key < $1.key }.map { (code: $0.key.string, problems: $0.value) }
    }
}

/// The lines about inputs and stores that `--verbose` prints.
struct StoreListing {
    /// The findings, or `nil` if nothing is printed.
    private var report: ScanReport?

    init(_ reader: CaptureReader, isPrinted: Bool) {
        report = isPrinted ? ScanReport(reader.inputs, paths: reader.paths, at: nil) : nil
    }

    mutating func count(_ entry: borrowing ScanOutput.Entry) { report?.count(entry) }

    mutating func note(_ finding: Intake.Finding) { report?.note(finding) }

    /// Prints a line for each input, followed by a line for each of its stores.
    func print() {
        for input in report?.inputs ?? [] {
            StandardError.write("pingferry: read \(input.label)", .information)
            for row in input.rowIndices.lazy.map({ input.row($0) }) {
                var parts = [Summary.records(in: row.totals)]
                if row.quarantineCount > 0 { parts.append("\(row.quarantineCount) quarantined") }
                if row.problemCount > 0 { parts.append(row.problemCount.counted("problem")) }
                let path = row.path.isEmpty ? "" : " \(row.path)"
                StandardError.write("pingferry:   \(row.kind)\(path): \(parts.joined(separator: ", "))", .information)
            }
        }
    }
}
