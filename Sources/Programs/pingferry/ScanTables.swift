import Console
import Telemetry

/// A scan as tables, one for each input with a line for each store, for people.
struct ScanTables {
    private let report: ScanReport
    private let apps: ContainerApps

    /// - Parameter report: a finished one.
    init(_ report: ScanReport) {
        self.report = report
        apps = ContainerApps(report.rows)
    }

    /// Prints the tables and the problems of no store.
    func print() throws {
        for input in report.inputs { try print(input) }
        for problem in report.strayProblems { try Terminal.print(problem.sentence) }
        if report.leftProblems > 0 { try Terminal.print("and \(report.leftProblems) more problems") }
    }

    private func print(_ input: ScannedInput) throws {
        try Terminal.print("\(input.label):")
        let told = input.backups.flatMap { BackupReport($0).lines }
        for line in input.backups.isEmpty ? [] : told + BackupReport.linesOfAll { try Terminal.print("  \(line)") }
        let table = TextTable(
            header: ["app", "system", "kind", "records", "quarantined", "held", "path"], rows: input.rows.map(cells))
        for line in table.lines { try Terminal.print("  " + line) }
        try printDetails(of: input.stores)
        for problem in input.rows.flatMap(\.problems) {
            try Terminal.print("  \(problem.path): \(problem.problem.text)")
        }
    }

    private func cells(of row: ScanRow) -> [String] {
        let holds = row.totals.holds.sorted { $0.key < $1.key }
        return [
            Self.name(of: apps.app(of: row)), row.systems.sorted().joined(separator: ","), row.kind,
            "\(row.totals.records)", "\(row.quarantineCount)",
            holds.map { "\($0.key) \($0.value)" }.joined(separator: ", "), Self.name(of: row.path),
        ]
    }

    private func printDetails(of stores: [ScannedInput.Store]) throws {
        var last: String?
        for store in stores {
            let details = store.details
            guard !details.isEmpty else { continue }
            // One file can be a store of two systems.
            if store.path != last { try Terminal.print("  \(Self.name(of: store.path)):") }
            last = store.path
            for line in details { try Terminal.print("    \(line)") }
        }
    }

    private static func name(of path: String) -> String { path.isEmpty ? "." : path }

    private static func name(of app: App?) -> String {
        let parts = [app?.name ?? app?.id, app?.version].compactMap(\.self)
        return parts.isEmpty ? "(unknown)" : parts.joined(separator: " ")
    }
}

extension ScannedInput.Store {
    /// What stands below the table about the store, under its path.
    var details: [String] {
        rows.flatMap { row in
            let name = row.path.hasPrefix(path + "/") ? String(row.path.dropFirst(path.count + 1)) : row.path
            return row.facts + [row.queue.map { "\(name): \($0.sentence)" }].compactMap(\.self)
        }
    }
}
