import Bundle
import Bytes
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// The text output of a scan, with a paragraph for each store.
struct ScanListing {
    private let report: ScanReport
    private let apps: ContainerApps

    /// Creates the listing of a finished report.
    init(_ report: ScanReport) {
        self.report = report
        apps = report.containerApps
    }

    /// Prints the stores of all inputs, and the problems that belong to no store.
    func print() throws {
        for input in report.inputs { try print(input) }
        for problem in report.unassignedProblems { try Terminal.print(problem.sentence) }
        let hiddenCount = report.hiddenProblemCount
        if hiddenCount > 0 { try Terminal.print("and \(hiddenCount.counted("more problem"))") }
    }

    private func print(_ input: ScannedInput) throws {
        try Terminal.print("\(input.label):")
        let backups = input.backups.flatMap { BackupReport($0).lines }
        for line in input.backups.isEmpty ? [] : backups + BackupReport.generalLines { try Terminal.print("  \(line)") }
        var container = ""
        var usageData: String?
        try input.forEachStore { path, rows in
            let next = rows[0].container?.path ?? ""
            if next != container {
                try Terminal.print("  \(next)")
                usageData = nil
            }
            container = next
            let sentence = rows[0].usageData?.sentence
            // All stores of a container mostly have the same state, which is printed once.
            try print(rows, ofStoreAt: path, in: container, usageData: sentence == usageData ? nil : sentence)
            usageData = sentence ?? usageData
        }
    }

    private func print(
        _ rows: [ScanRow], ofStoreAt path: String, in container: String, usageData: String?
    ) throws {
        let indent = container.isEmpty ? 2 : 4
        try Terminal.print(String(repeating: " ", count: indent) + ScanRow.relativePath(of: path, in: container))
        let facts = rows.flatMap(\.details.facts) + [usageData].compactMap(\.self)
        for fact in facts { try printWrapped(fact, indent: indent + 2) }
        for row in rows {
            let prefix = row.path == path ? "" : ScanRow.relativePath(of: row.path, in: path) + ": "
            try printFindings(of: row, prefix: prefix, indent: indent + 2)
        }
    }

    private func printFindings(of row: ScanRow, prefix: String, indent: Int) throws {
        try printWrapped(prefix + counts(of: row), indent: indent)
        if let queue = row.details.queue { try printWrapped(prefix + queue.sentence, indent: indent) }
        for problem in row.details.problems {
            let name = problem.path == row.path ? "" : ScanRow.relativePath(of: problem.path, in: row.path) + ": "
            try printWrapped(name + problem.problem.text, indent: indent)
        }
    }

    /// Returns a line such as `mozilla-ping-file of Focus 7.0.4, 3 records, 4 quarantined, held: no-target 1`.
    private func counts(of row: ScanRow) -> String {
        let owner = row.container == nil ? row.systems.sortedStrings.joined(separator: " and ") : appName(of: row)
        let kind = owner.isEmpty ? row.kind : "\(row.kind) of \(owner)"
        var counts = [row.totals.records.counted("record")]
        if row.quarantineCount > 0 { counts.append("\(row.quarantineCount) quarantined") }
        if !row.totals.holds.isEmpty { counts.append("held: " + Summary.countList(row.totals.holds)) }
        return ([kind] + counts.map(Self.unbroken)).joined(separator: ", ")
    }

    /// Returns `text` with no-break spaces, so that it stays on one line.
    private static func unbroken(_ text: String) -> String {
        String(text.map { $0 == " " ? WrappedText.noBreakSpace : $0 })
    }

    private func appName(of row: ScanRow) -> String {
        let app = apps.app(of: row)
        return [app?.name ?? app?.id, app?.version].compactMap(\.self).joined(separator: " ")
    }

    private func printWrapped(_ text: String, indent: Int) throws {
        for line in WrappedText.lines(of: text, indent: indent) { try Terminal.print(line) }
    }
}

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
        let found = "\(stores.counted("store")) in \(containers.counted("container"))"
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
            "\(entry.containerCount.counted("container")), \(entry.storeCount.counted("store"))"
        var found = Summary.records(in: entry.totals)
        if entry.quarantineCount > 0 { found += ", \(entry.quarantineCount) quarantined" }
        if entry.problemCount > 0 { found += ", " + entry.problemCount.counted("problem") }
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
            try Terminal.print("  \(code): \(problems.count.counted("problem"))")
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

/// The description of a backup in the output of a scan, including the data that backups do not contain.
///
/// Source: "iOS backups", section 7.
struct BackupReport {
    private let facts: BackupFacts

    init(_ facts: BackupFacts) { self.facts = facts }

    private var name: String { facts.path.isEmpty ? "." : facts.path }

    /// A line that describes the backup, and a line for each app whose pings are not included in backups.
    var lines: [String] {
        let kind = facts.isEncrypted ? "encrypted backup" : "backup"
        let facts = [kind, self.facts.origin].filter { !$0.isEmpty }.joined(separator: ", ")
        return ["\(name): \(facts)"]
            + self.facts.appsWithoutPings.map {
                "\(name): \($0): its pings are in Library/Caches, which backups do not contain"
            }
    }

    /// Returns a line with the number of backups, and a line for each app whose pings are not included in backups.
    static func summary(of backups: [BackupFacts]) -> [String] {
        let encrypted = backups.count(where: \.isEncrypted)
        let absent = Dictionary(backups.flatMap(\.appsWithoutPings).map { (CapturedText($0), 1) }, uniquingKeysWith: +)
        let apps = absent.sorted { $0.key < $1.key }
        return ["\(backups.count.counted("backup")), \(encrypted) of them encrypted"]
            + apps.map { app, count in
                let backups = count.counted("backup")
                return "\(app) in \(backups): its pings are in Library/Caches, which backups do not contain"
            }
    }

    /// A line for each system whose data is never included in backups.
    static let generalLines = Systems.table.all.flatMap(\.stores).compactMap(\.absenceFromBackups)

    var json: CanonicalObject {
        [
            "absent": facts.appsWithoutPings, "format": facts.format.rawValue, "isEncrypted": facts.isEncrypted,
            "lastBackup": facts.lastBackup, "path": facts.path, "productType": facts.productType,
            "productVersion": facts.productVersion, "snapshotState": facts.snapshotState,
        ]
    }
}
