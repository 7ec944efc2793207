import Bytes
import Console
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
        if report.hiddenProblemCount > 0 { try Terminal.print("and \(report.hiddenProblemCount) more problems") }
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
        var counts = [Summary.count(row.totals.records, "record")]
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
