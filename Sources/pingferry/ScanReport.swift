import Bundle
import Capture
import JSONText
import Telemetry

/// What a scan found, store by store.
struct ScanReport {
    /// What was found in one store, or in one bundle.
    private struct Row {
        let capture: String
        let container: Container?
        let kind: String
        let path: String
        var app: App?
        var systems: Set<String> = []
        var totals = BundleTotals()
        var quarantined: [Quarantined] = []
        var problems: [PlacedProblem] = []
    }

    private var rows: [Row] = []
    /// What each input is called.
    private var labels: [String] = []
    /// The first row of each input.
    private var starts: [Int] = []
    /// Rows by input and path.
    private var places: [[String: Int]] = []
    private var strayProblems: [PlacedProblem] = []
    private var containers = Containers()

    /// A name within a capture.
    private struct Place: Hashable {
        let capture: String
        let name: String

        init(_ capture: String, _ name: String) {
            self.capture = capture
            self.name = name
        }
    }

    /// What the stores say of their containers.
    private struct Containers {
        /// The newest app, by path of the container.
        var apps: [Place: App] = [:]
        /// Paths of the containers, by bundle id of the app.
        var paths: [Place: String] = [:]
    }

    init(_ inputs: [CaptureInput], paths: [String]) {
        for (input, path) in zip(inputs, paths) {
            starts.append(rows.count)
            switch input {
            case .folder(let capture):
                labels.append(capture.label)
                rows += capture.stores.map { store in
                    Row(
                        capture: capture.label, container: store.container, kind: store.kind.rawValue,
                        path: store.path, app: App(id: store.container.identifier),
                        systems: [TelemetrySystem.mozilla.rawValue])
                }
            case .bundle, .salvage:
                labels.append(path)
                rows.append(Row(capture: path, container: nil, kind: "bundle", path: path))
            }
            places.append(
                Dictionary(
                    rows[(starts.last ?? 0)...].enumerated().map { ($1.path, (starts.last ?? 0) + $0) },
                    uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Counts a record.
    mutating func count(_ entry: Batch.Entry) {
        let row = starts[entry.input] + (entry.store ?? 0)
        let record = entry.summary
        rows[row].totals.count(record)
        rows[row].systems.insert(record.system.rawValue)
        // The last record of a store tells the app's latest version.
        if entry.store != nil {
            rows[row].app = App(
                id: record.appID ?? rows[row].app?.id, name: record.appName ?? rows[row].app?.name,
                version: record.appVersion ?? rows[row].app?.version)
        }
    }

    /// Adds what could not be understood and what is worth telling.
    mutating func add(_ intake: Intake) {
        knowContainers()
        for entry in intake.quarantined {
            guard let row = row(entry.input, path: entry.item.path) else { continue }
            rows[row].quarantined.append(entry.item)
        }
        for problem in intake.problems {
            if let input = labels.firstIndex(of: problem.capture), let row = row(input, path: problem.path) {
                rows[row].problems.append(problem)
            } else {
                strayProblems.append(problem)
            }
        }
    }

    /// The row of the store that is, or holds, a file.
    private func row(_ input: Int, path: String) -> Int? {
        if let row = places[input][path] { return row }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return places[input][slash.map { String(path[..<$0]) } ?? ""]
    }
}

// MARK: - For people

extension ScanReport {
    func printTables() throws {
        for capture in captures {
            try Terminal.print("\(capture.label):")
            let table = TextTable(
                header: ["app", "system", "kind", "records", "quarantined", "held", "path"],
                rows: capture.rows.map { row in
                    [
                        Self.name(of: app(of: row)), row.systems.sorted().joined(separator: ","),
                        row.kind, "\(row.totals.records)", "\(row.quarantined.count)",
                        row.totals.holds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                            .joined(separator: ", "),
                        row.path.isEmpty ? "." : row.path,
                    ]
                })
            for line in table.lines { try Terminal.print("  " + line) }
            for row in capture.rows {
                for problem in row.problems { try Terminal.print("  \(problem.path): \(problem.problem.text)") }
            }
        }
        for problem in strayProblems {
            try Terminal.print("\(problem.capture): \(problem.path): \(problem.problem.text)")
        }
    }

    private var captures: [(label: String, rows: [Row])] {
        starts.enumerated().map { number, start in
            let end = number + 1 < starts.count ? starts[number + 1] : rows.count
            return (labels[number], Array(rows[start..<end]))
        }
    }

    /// What is known of the app of a row; a store with pings in its container, or in that of the app that a group belongs
    /// to, knows it best.
    private func app(of row: Row) -> App? {
        if row.app?.version != nil { return row.app }
        guard let container = row.container else { return row.app }
        return containers.apps[Place(row.capture, container.path)]
            ?? appContainer(of: row).flatMap { containers.apps[Place(row.capture, $0)] } ?? row.app
    }

    /// Path of the container of the app that a group container belongs to.
    private func appContainer(of row: Row) -> String? {
        guard let container = row.container, let app = container.applicationOfGroup else { return nil }
        return containers.paths[Place(row.capture, app)]
    }

    /// Collects what the stores say of their containers, when all records have been counted.
    private mutating func knowContainers() {
        for row in rows {
            guard let container = row.container else { continue }
            if let app = row.app, app.version != nil { containers.apps[Place(row.capture, container.path)] = app }
            if let id = container.applicationID { containers.paths[Place(row.capture, id)] = container.path }
        }
    }

    private static func name(of app: App?) -> String {
        let parts = [app?.name ?? app?.id, app?.version].compactMap(\.self)
        return parts.isEmpty ? "(unknown)" : parts.joined(separator: " ")
    }
}

// MARK: - For machines

extension ScanReport {
    /// A row for each store.
    var stores: [CanonicalObject] {
        rows.map { row in
            var object = CanonicalObject()
            object.set("app", canonical: Self.json(of: app(of: row)))
            object.set("appContainer", string: appContainer(of: row))
            object.set("capture", string: row.capture)
            object.set("container", string: row.container?.path)
            object.set("containerID", string: row.container?.identifier)
            object.set("held", object: CanonicalObject(counts: row.totals.holds))
            object.set("kind", string: row.kind)
            object.set("path", string: row.path)
            object.set("problems", elements: row.problems.map(\.json.bytes))
            object.set("quarantined", elements: row.quarantined.map(\.json.bytes))
            object.set("records", integer: row.totals.records)
            object.set("systems", strings: row.systems.sorted())
            object.set("types", object: CanonicalObject(counts: row.totals.types))
            object.set("uploadable", integer: row.totals.uploadable)
            return object
        }
    }

    private static func json(of app: App?) -> [UInt8] {
        guard let app else { return Array("null".utf8) }
        var object = CanonicalObject()
        for (key, value) in [("id", app.id), ("name", app.name), ("version", app.version)] {
            if let value { object.set(JSONKey(key), string: value) }
        }
        return object.bytes
    }
}
