import Bundle
import Capture
import Console
import JSONText
import Telemetry

/// What a scan found, store by store.
struct ScanReport {
    private var rows: [ScanRow] = []
    private var inputs: [Input] = []
    /// The instant to judge queues at; nil for the newest that their store tells.
    private let instant: Timestamp?
    private var strayProblems: [PlacedProblem] = []
    /// How many entries of the quarantine and how many problems the rows show: the first ones of all.
    private var shown = (quarantined: 0, problems: 0)
    private var problemCount = 0
    private var containers = Containers()

    /// An input, and where its rows stand.
    private struct Input {
        /// What the input is called.
        let label: String
        /// Whether it is a bundle, which has one row.
        let isBundle: Bool
        /// The rows of the input.
        var rows: Range<Int>
        /// The first row of each store.
        var stores: [Int] = []
        /// The first row with a path.
        var byPath: [String: Int] = [:]
        /// The other rows with that path: one file can be a store of two systems.
        var byPathAndKind: [PathAndKind: Int] = [:]
    }

    private struct PathAndKind: Hashable {
        let path: String
        let kind: String
    }

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

    /// - Parameter instant: when to judge queues; nil for the newest instant that their store tells.
    init(_ captures: [CaptureInput], paths: [String], at instant: Timestamp?) {
        self.instant = instant
        for (input, path) in zip(captures, paths) {
            switch input {
            case .folder(let capture):
                begin(capture.label, isBundle: false)
                for found in capture.stores { add(found, of: capture) }
            case .log(let log):
                begin(log.label, isBundle: false)
                add(
                    ScanRow(
                        capture: log.label, container: nil, kind: log.kind.store.description, path: log.path,
                        isOfOneApp: false))
            case .bundle, .salvage:
                begin(path, isBundle: true)
                add(ScanRow(capture: path, container: nil, kind: "bundle", path: path, isOfOneApp: false))
            }
        }
    }

    private mutating func begin(_ label: String, isBundle: Bool) {
        inputs.append(Input(label: label, isBundle: isBundle, rows: rows.count..<rows.count))
    }

    /// Adds a row for each part of a store.
    private mutating func add(_ found: FoundStore, of capture: CapturedFolder) {
        let input = inputs.count - 1
        let first = rows.count
        inputs[input].stores.append(first)
        for part in found.store.parts {
            add(
                ScanRow(
                    capture: capture.label, container: found.container, kind: part.kind.description, path: part.path,
                    isOfOneApp: !part.kind.isRequestLog, app: App(id: found.container.identifier),
                    systems: found.store.system.map { [$0.description] } ?? [], store: found.path))
        }
        // What is told of a folder, or of a file in it that is no part, is told with its first part.
        for path in [found.path] + found.store.companionPaths where inputs[input].byPath[path] == nil {
            inputs[input].byPath[path] = first
        }
    }

    private mutating func add(_ row: ScanRow) {
        let input = inputs.count - 1
        if inputs[input].byPath[row.path] == nil {
            inputs[input].byPath[row.path] = rows.count
        } else {
            inputs[input].byPathAndKind[PathAndKind(path: row.path, kind: row.kind)] = rows.count
        }
        rows.append(row)
        inputs[input].rows = inputs[input].rows.lowerBound..<rows.count
    }

    /// Counts a record.
    mutating func count(_ entry: Batch.Entry) {
        let row = row(of: entry)
        let record = entry.summary
        rows[row].totals.count(record)
        rows[row].systems.insert(record.system.description)
        // The last record of a store tells the app's latest version.
        if rows[row].isOfOneApp {
            rows[row].app = App(
                id: record.appID ?? rows[row].app?.id, name: record.appName ?? rows[row].app?.name,
                version: record.appVersion ?? rows[row].app?.version)
        }
    }

    /// Counts what the events of a record mean.
    mutating func count(_ labels: [String?], of entry: Batch.Entry) {
        rows[row(of: entry)].labels.count(labels)
    }

    /// Takes what could not be understood, or what is worth telling.
    mutating func note(_ finding: Intake.Finding) {
        switch finding {
        case .quarantined(let entry): note(entry)
        case .problem(let problem): note(problem)
        }
    }

    private mutating func note(_ entry: Batch.QuarantineEntry) {
        guard let row = row(entry.input, path: entry.item.path, kind: entry.item.store.description) else { return }
        rows[row].quarantineCount += 1
        guard shown.quarantined < FirstFew<Quarantined>.shown else { return }
        shown.quarantined += 1
        rows[row].quarantined.append(entry.item)
    }

    private mutating func note(_ problem: PlacedProblem) {
        problemCount += 1
        guard shown.problems < FirstFew<PlacedProblem>.shown else { return }
        shown.problems += 1
        if let input = inputs.firstIndex(where: { $0.label == problem.capture }),
            let row = row(input, path: problem.path)
        {
            rows[row].problems.append(problem)
        } else {
            strayProblems.append(problem)
        }
    }

    /// Adds what is known when everything was read.
    mutating func finish(_ intake: Intake) {
        knowContainers()
        for entry in intake.reports { add(entry) }
    }

    private mutating func add(_ entry: Batch.ReportEntry) {
        rows[row(entry.input, entry.store, part: 0)].facts += entry.report.facts
        let now = instant?.milliseconds ?? entry.report.newest
        for part in entry.report.parts {
            let row = row(entry.input, entry.store, part: part.part)
            rows[row].events = part.events
            rows[row].queue = part.queue.map { JudgedQueue(rules: $0, instant: now) }
        }
    }

    /// The row of the store that a record came from.
    private func row(of entry: Batch.Entry) -> Int {
        entry.place.map { row(entry.input, $0.store, part: $0.part) } ?? inputs[entry.input].rows.lowerBound
    }

    private func row(_ input: Int, _ store: Int, part: Int) -> Int { inputs[input].stores[store] + part }

    /// The row of the store that is, or holds, a file.
    private func row(_ input: Int, path: String, kind: String? = nil) -> Int? {
        let input = inputs[input]
        if input.isBundle { return input.rows.lowerBound }
        if let row = input.byPath[path] {
            guard let kind, rows[row].kind != kind else { return row }
            return input.byPathAndKind[PathAndKind(path: path, kind: kind)] ?? row
        }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return input.byPath[slash.map { String(path[..<$0]) } ?? ""]
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
                        row.kind, "\(row.totals.records)", "\(row.quarantineCount)",
                        row.totals.holds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                            .joined(separator: ", "),
                        Self.name(of: row.path),
                    ]
                })
            for line in table.lines { try Terminal.print("  " + line) }
            try printDetails(of: capture.rows)
            for row in capture.rows {
                for problem in row.problems { try Terminal.print("  \(problem.path): \(problem.problem.text)") }
            }
        }
        for problem in strayProblems {
            try Terminal.print(problem.sentence)
        }
        if problemCount > shown.problems { try Terminal.print("and \(problemCount - shown.problems) more problems") }
    }

    private func printDetails(of rows: [ScanRow]) throws {
        var store: String?
        for row in rows where !row.details.isEmpty {
            if row.store != store { try Terminal.print("  \(Self.name(of: row.store)):") }
            store = row.store
            for line in row.details { try Terminal.print("    \(line)") }
        }
    }

    private static func name(of path: String) -> String { path.isEmpty ? "." : path }

    private var captures: [(label: String, rows: [ScanRow])] {
        inputs.map { ($0.label, Array(rows[$0.rows])) }
    }

    /// What is known of the app of a row; a store with pings in its container, or in that of the app that a group belongs
    /// to, knows it best.
    private func app(of row: ScanRow) -> App? {
        if row.app?.version != nil { return row.app }
        guard let container = row.container else { return row.app }
        return containers.apps[Place(row.capture, container.path)]
            ?? appContainer(of: row).flatMap { containers.apps[Place(row.capture, $0)] } ?? row.app
    }

    /// Path of the container of the app that a group container belongs to.
    private func appContainer(of row: ScanRow) -> String? {
        guard let container = row.container, let app = container.applicationOfGroup else { return nil }
        return containers.paths[Place(row.capture, app)]
    }

    /// Collects what the stores say of their containers, when all records have been counted.
    private mutating func knowContainers() {
        for row in rows {
            guard let container = row.container else { continue }
            let place = Place(row.capture, container.path)
            // One that is named is known better than one that only has a version.
            if let app = row.app, app.version != nil, app.name != nil || containers.apps[place] == nil {
                containers.apps[place] = app
            }
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
            object.set("events", object: row.labels.json)
            object.set("facts", strings: row.facts)
            object.set("held", object: CanonicalObject(counts: row.totals.holds))
            object.set("kind", string: row.kind)
            object.set("path", string: row.path)
            object.set("problems", elements: row.problems.map(\.json.bytes))
            object.set("quarantineCount", integer: row.quarantineCount)
            object.set("quarantined", elements: row.quarantined.map(\.json.bytes))
            if let events = row.events { object.set("pendingEvents", object: CanonicalObject(counts: events)) }
            if let queue = row.queue { object.set("queue", object: queue.json) }
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
