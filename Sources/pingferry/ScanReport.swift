import Bundle
import Capture
import Console
import JSONText
import Telemetry

/// What a scan found, store by store.
struct ScanReport {
    private var rows: [ScanRow] = []
    /// What each input is called.
    private var labels: [String] = []
    /// The first row of each input.
    private var starts: [Int] = []
    /// The inputs that are bundles, which have one row each.
    private var bundles: Set<Int> = []
    /// The first row of each store of an input.
    private var storeStarts: [[Int]] = []
    /// The instant to judge queues at; nil for the newest that their store tells.
    private let instant: Timestamp?
    /// Rows by input and path.
    private var places: [[String: Int]] = []
    private var strayProblems: [PlacedProblem] = []
    /// How many entries of the quarantine and how many problems the rows show: the first ones of all.
    private var shown = (quarantined: 0, problems: 0)
    private var problemCount = 0
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

    /// - Parameter instant: when to judge queues; nil for the newest instant that their store tells.
    init(_ inputs: [CaptureInput], paths: [String], at instant: Timestamp?) {
        self.instant = instant
        for (input, path) in zip(inputs, paths) {
            starts.append(rows.count)
            storeStarts.append([])
            places.append([:])
            switch input {
            case .folder(let capture):
                labels.append(capture.label)
                for store in capture.stores { add(store, of: capture) }
            case .log(let log):
                labels.append(log.label)
                add(
                    ScanRow(
                        capture: log.label, container: nil, kind: log.kind.store.rawValue, path: log.path,
                        isOfOneApp: false))
            case .bundle, .salvage:
                labels.append(path)
                bundles.insert(starts.count - 1)
                add(ScanRow(capture: path, container: nil, kind: "bundle", path: path, isOfOneApp: false))
            }
        }
    }

    /// Adds a row for each part of a store.
    private mutating func add(_ store: FoundStore, of capture: CapturedFolder) {
        let input = starts.count - 1
        let first = rows.count
        storeStarts[input].append(first)
        for part in store.parts {
            add(
                ScanRow(
                    capture: capture.label, container: store.container, kind: part.kind.rawValue, path: part.path,
                    isOfOneApp: !part.kind.isRequestLog, app: App(id: store.container.identifier),
                    systems: part.kind.isRequestLog ? [] : [store.system.rawValue], store: store.path))
        }
        // What is told of a folder, or of a file in it that is no part, is told with its first part.
        for path in [store.path] + store.companionPaths where places[input][path] == nil { places[input][path] = first }
    }

    private mutating func add(_ row: ScanRow) {
        let input = places.count - 1
        if places[input][row.path] == nil { places[input][row.path] = rows.count }
        rows.append(row)
    }

    /// Counts a record.
    mutating func count(_ entry: Batch.Entry) {
        let row = row(of: entry)
        let record = entry.summary
        rows[row].totals.count(record)
        rows[row].systems.insert(record.system.rawValue)
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
        guard let row = row(entry.input, path: entry.item.path, kind: entry.item.store.rawValue) else { return }
        rows[row].quarantineCount += 1
        guard shown.quarantined < FirstFew<Quarantined>.shown else { return }
        shown.quarantined += 1
        rows[row].quarantined.append(entry.item)
    }

    private mutating func note(_ problem: PlacedProblem) {
        problemCount += 1
        guard shown.problems < FirstFew<PlacedProblem>.shown else { return }
        shown.problems += 1
        if let input = labels.firstIndex(of: problem.capture), let row = row(input, path: problem.path) {
            rows[row].problems.append(problem)
        } else {
            strayProblems.append(problem)
        }
    }

    /// Adds what is known when everything was read.
    mutating func finish(_ intake: Intake) {
        knowContainers()
        for entry in intake.sift { add(entry) }
    }

    private mutating func add(_ entry: Batch.SiftEntry) {
        rows[row(entry.input, entry.store, part: 0)].facts += entry.report.facts
        let now = instant?.milliseconds ?? entry.report.newest
        for (source, part) in zip(entry.report.sources, entry.parts) {
            let row = row(entry.input, entry.store, part: part)
            rows[row].events = source.counts
            rows[row].queue = source.queue.map { QueueState($0, at: now) }
        }
    }

    /// The row of the store that a record came from.
    private func row(of entry: Batch.Entry) -> Int {
        entry.place.map { row(entry.input, $0.store, part: $0.part) } ?? starts[entry.input]
    }

    private func row(_ input: Int, _ store: Int, part: Int) -> Int { storeStarts[input][store] + part }

    /// The row of the store that is, or holds, a file. Of two stores in one file, the rows follow each other.
    private func row(_ input: Int, path: String, kind: String? = nil) -> Int? {
        if bundles.contains(input) { return starts[input] }
        if let row = places[input][path] {
            let isOther = kind.map { rows[row].kind != $0 } ?? false
            return isOther && row + 1 < rows.count && rows[row + 1].path == path ? row + 1 : row
        }
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
        starts.enumerated().map { number, start in
            let end = number + 1 < starts.count ? starts[number + 1] : rows.count
            return (labels[number], Array(rows[start..<end]))
        }
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
            if let events = row.events { object.set("pendingEvents", object: CanonicalObject(counts: events.byName)) }
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

extension StoreKind {
    /// Whether it holds the traffic of any number of apps.
    fileprivate var isRequestLog: Bool { self == .harEntry || self == .ndjsonLine }
}
