import Bundle
import Bytes
import Capture
import Console
import Telemetry

/// The text output of a scan of many containers, grouped by app.
struct AppListing {
    private let report: ScanReport
    private let rollUp: AppRollUp

    /// The number of stores above which a report on many containers is grouped by app.
    static let maximumStoreCount = 40
    /// The number of containers above which a report on many stores is grouped by app.
    static let maximumContainerCount = 3
    /// The maximum number of backups, and the maximum number of problems, that are listed individually.
    private static let maximumListedBackups = 20
    /// The maximum number of captures without stores that are listed by name.
    private static let maximumNamedCaptures = 5

    /// Creates the listing of a finished report.
    init(_ report: ScanReport) {
        self.report = report
        rollUp = report.rollUp(report.containerApps)
    }

    /// Returns whether `report` is grouped by app by default because of the number of its stores and containers.
    static func isNeeded(for report: ScanReport) -> Bool {
        let stores = report.inputs.reduce(0) { $0 + $1.rowIndices.count }
        return stores > maximumStoreCount && report.containerCount > maximumContainerCount
    }

    func print() throws {
        try Terminal.print(hasSingleInput ? "\(report.inputs[0].label):" : "\(report.inputs.count) captures:")
        try printBackups()
        for (entry, name) in zip(rollUp.entries, rollUp.names) { try print(entry, named: name) }
        let (stores, containers) = rollUp.entries.reduce((0, 0)) { ($0.0 + $1.storeCount, $0.1 + $1.containerCount) }
        let found = "\(Summary.count(stores, "store")) in \(Summary.count(containers, "container"))"
        try Terminal.print("  \(found), grouped by app; --stores lists each store")
        try printCapturesWithoutStores()
        if !report.quarantineCounts.isEmpty {
            try Terminal.print("  quarantined: \(Summary.countList(report.quarantineCounts))")
        }
        try printProblems()
    }

    private var hasSingleInput: Bool { report.inputs.count == 1 }

    // MARK: Apps

    private func print(_ entry: AppEntry, named name: String) throws {
        try Terminal.print("  \(name)")
        for line in Self.lines(of: entry).flatMap({ WrappedText.lines(of: $0, indent: 4) }) { try Terminal.print(line) }
    }

    private static func lines(of entry: AppEntry) -> [String] {
        let storeCounts =
            "\(Summary.count(entry.containerCount, "container")), \(Summary.count(entry.storeCount, "store"))"
        var found = Summary.count(entry.totals.records, "record") + Summary.details(of: entry.totals)
        if entry.quarantineCount > 0 { found += ", \(entry.quarantineCount) quarantined" }
        if entry.problemCount > 0 { found += ", " + Summary.count(entry.problemCount, "problem") }
        let systems = entry.systems.sortedStrings.joined(separator: ", ")
        var lines = ["\(storeCounts): \(Summary.countList(entry.kindCounts))", "\(systems): \(found)"]
        let events = entry.pendingEventCounts.filter { $0.value > 0 }
        if !events.isEmpty { lines.append("events: \(Summary.countList(events))") }
        let queues = entry.sortedQueues.map { "\($0.count) \(phrase(for: $0.state))" }
        if !queues.isEmpty { lines.append("queues: \(queues.joined(separator: "; "))") }
        if !entry.usageDataCounts.isEmpty {
            lines.append("usage data, by store: \(Summary.countList(entry.usageDataCounts))")
        }
        let (facts, others) = entry.commonFacts
        lines += facts.map { $0.stores == 1 ? $0.text : "\($0.text) (\($0.stores) times)" }
        if others > 0 { lines.append("\(others) more; --stores lists them") }
        return lines
    }

    private static func phrase(for state: QueueState) -> String {
        switch state.readiness {
        case .ready: "ready for upload: \(state.text)"
        case .notReady: "not ready: \(state.text)"
        case .empty: "empty"
        case .unknown: "pending: \(state.text)"
        }
    }

    // MARK: Captures

    private func printBackups() throws {
        let backups = report.inputs.flatMap(\.backups)
        guard !backups.isEmpty else { return }
        let isShort = hasSingleInput && backups.count <= Self.maximumListedBackups
        let lines = isShort ? backups.flatMap { BackupReport($0).lines } : BackupReport.summary(of: backups)
        for line in lines + BackupReport.generalLines { try Terminal.print("  \(line)") }
    }

    private func printCapturesWithoutStores() throws {
        let labels = report.inputs.filter(\.rowIndices.isEmpty).map(\.label)
        guard !labels.isEmpty else { return }
        let hiddenCount = labels.count - Self.maximumNamedCaptures
        let names =
            labels.prefix(Self.maximumNamedCaptures).joined(separator: ", ")
            + (hiddenCount > 0 ? " and \(hiddenCount) more" : "")
        try Terminal.print("  no store in: \(names)")
    }

    // MARK: Problems

    private func printProblems() throws {
        guard report.problemCount > Self.maximumListedBackups else {
            let problems = report.rows.flatMap(\.details.problems) + report.unassignedProblems
            for problem in problems { try Terminal.print("  \(line(for: problem))") }
            return
        }
        for (code, problems) in report.problemsByCode.sorted {
            try Terminal.print("  \(code): \(Summary.count(problems.count, "problem"))")
            for problem in problems.elements { try Terminal.print("    \(line(for: problem))") }
            if problems.omittedCount > 0 {
                try Terminal.print("    and \(problems.omittedCount) more; --stores lists them")
            }
        }
        if report.hiddenProblemCount > 0 {
            try Terminal.print(
                "  --stores lists the first \(report.shownProblemCount) problems; a bundle contains all of them")
        }
    }

    /// Returns the line for a problem, with the label of the capture if there are several captures.
    private func line(for problem: LocatedProblem) -> String {
        hasSingleInput && !problem.path.isEmpty ? "\(problem.path): \(problem.problem.text)" : problem.sentence
    }
}
