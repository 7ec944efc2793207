import Export
import JSONText
import Telemetry
import Testing

@testable import pingferry

/// Tests of findings that are grouped by app, with constructed rows.
@Suite struct AppRollUpTests {
    /// The rules of a queue that is always in a given state.
    private struct Rules: QueueRules {
        let state: QueueState

        func sentence(at instant: Int64) -> String { state.text }
        func json(at instant: Int64) -> CanonicalObject { CanonicalObject() }
        func state(at instant: Int64) -> QueueState { state }
    }

    private static func row(
        _ container: Container?, _ kind: String = "kind", capture: String = "phone", app: App? = nil,
        _ change: (inout ScanRow) -> Void = { _ in }
    ) -> ScanRow {
        var row = ScanRow(
            capture: capture, container: container, containerNumber: 0, kind: kind,
            path: "\(container?.path ?? "")/\(kind)", app: app)
        change(&row)
        return row
    }

    /// Numbers the containers of rows in order of appearance, and combines the rows by app.
    private static func rollUp(_ rows: [ScanRow]) -> AppRollUp {
        var numbers: [[String?]: Int] = [:]
        var numbered = rows
        for index in rows.indices {
            let container = [rows[index].capture, rows[index].container?.path]
            numbered[index].containerNumber = numbers[container] ?? numbers.count
            numbers[container] = numbered[index].containerNumber
        }
        let apps = ContainerApps(numbered)
        return AppRollUp(numbered, containerCount: numbers.count, apps)
    }

    @Test("The containers of an app and of its group are one entry across captures")
    func containers() {
        let app = Container(path: "a", identifier: "org.example.app")
        let group = Container(path: "g", identifier: "group.org.example.app")
        let plugin = Container(path: "p", identifier: "org.example.app.share", kind: .plugin)
        let entries = Self.rollUp([
            Self.row(app, "one"), Self.row(app, "two"), Self.row(group, "two"), Self.row(app, "two", capture: "other"),
            Self.row(plugin, "one"),
        ]).entries
        #expect(entries.map(\.id) == ["org.example.app", "org.example.app.share"])
        #expect(entries.map(\.containerCount) == [3, 1])
        #expect(entries.map(\.storeCount) == [4, 1])
        #expect(entries.map(\.captures) == [["phone", "other"], ["phone"]])
        #expect(entries.map(\.kindCounts) == [["one": 1, "two": 3], ["one": 1]])
    }

    @Test(
        "An unidentified container is named by its stores, and containers of unknown apps are last")
    func unidentified() {
        let entries = Self.rollUp([
            Self.row(Container(path: "a", identifier: nil), "one"),
            Self.row(Container(path: "a", identifier: nil), "two", app: App(name: "Zebra", version: "1")),
            Self.row(Container(path: "b", identifier: nil), app: App(name: "Zebra", version: "2")),
            Self.row(Container(path: "c", identifier: nil), "one", app: App(name: "Ape", version: "2")),
            Self.row(Container(path: "c", identifier: nil), "two", app: App(id: "org.ape", version: "3")),
            Self.row(nil, "bundle"), Self.row(Container(path: "d", identifier: nil)),
        ]).entries
        #expect(entries.map(\.shortName) == ["Ape", "Zebra", "(unknown)"])
        #expect(entries.map(\.id) == ["org.ape", nil, nil])
        #expect(entries.map(\.storeCount) == [2, 3, 2])
        #expect(entries.map(\.containerCount) == [1, 2, 1])
        #expect(entries.map(\.versions) == [["2", "3"], ["1", "2"], []])
    }

    @Test("A name includes the version or the number of versions, and the bundle id if the name is not unique")
    func names() {
        func row(_ path: String, _ id: String?, _ name: String?, _ version: String?) -> ScanRow {
            Self.row(Container(path: path, identifier: id), app: App(id: id, name: name, version: version))
        }
        let names = Self.rollUp([
            row("a", "org.a", "Fennec", "24.1"), row("b", "org.b", "Fennec", "24.1"),
            row("c", "org.b", "Fennec", "24.2"),
            row("d", "org.d", "Focus", "8"), row("e", "org.e", nil, nil), row("f", nil, nil, "3"),
        ]).names
        #expect(
            names == ["Fennec 24.1 (org.a)", "Fennec, 2 versions (org.b)", "Focus 8", "org.e", "(unknown) 3"])
    }

    @Test("A store without a version has the version of the record with the latest time in its container")
    func versions() {
        let container = Container(path: "a", identifier: "org.a")
        func row(_ name: String?, _ version: String?, _ time: Int64?) -> ScanRow {
            Self.row(container, app: App(id: "org.a", name: name, version: version)) {
                $0.appTime = time.flatMap { Timestamp(milliseconds: $0) }
            }
        }
        func version(_ rows: [ScanRow]) -> String? {
            ContainerApps(rows).app(of: row(nil, nil, nil))?.version
        }
        #expect(version([row("A", "8.10", 20), row("A", "8.1", 10), row("A", "9", nil)]) == "8.10")
        #expect(version([row("A", "8.1", 10), row("A", "8.10", 20)]) == "8.10")
        #expect(version([row("A", "8.1", 10), row(nil, "8.10", 20)]) == "8.1")
        #expect(version([row(nil, "8.10", 20), row("A", "8.1", 10)]) == "8.1")
        #expect(version([row("A", "1", 10), row("A", "2", 10)]) == "2")
    }

    @Test("Records, holds, events, problems and quarantined items are counted")
    func sums() throws {
        let container = Container(path: "a", identifier: "org.a")
        let entry = try #require(
            Self.rollUp([
                Self.row(container) { row in
                    row.set([
                        .type(system: "mozilla", type: "core", isUploadable: true): 1,
                        .type(system: "mozilla", type: "core", isUploadable: false): 1,
                        .held(code: "schema"): 1, .held(code: "no-target"): 1,
                        .event(meaning: "tap"): 1, .event(meaning: nil): 1,
                    ])
                    (row.problemCount, row.quarantineCount) = (2, 3)
                    row.details.pendingEvents = ["pending": 4, "lost": 0]
                },
                Self.row(Container(path: "b", identifier: "org.a")) { row in
                    row.set([
                        .type(system: "glean", type: "event", isUploadable: false): 1, .held(code: "schema"): 1,
                        .event(meaning: "tap"): 1, .event(meaning: "press"): 1,
                    ])
                    (row.problemCount, row.quarantineCount) = (20, 30)
                    row.details.pendingEvents = ["pending": 5]
                },
            ]).entries.first)
        #expect(entry.systems == ["glean", "mozilla"])
        #expect(entry.totals.records == 3 && entry.totals.uploadableCount == 1)
        #expect(entry.totals.holds == ["no-target": 1, "schema": 2])
        #expect(entry.totals.types == ["glean/event": 1, "mozilla/core": 2])
        #expect(entry.problemCount == 22 && entry.quarantineCount == 33)
        #expect(entry.pendingEventCounts == ["lost": 0, "pending": 9])
        let labels = String(decoding: entry.eventCounts.json.bytes, as: UTF8.self)
        #expect(labels == #"{"known":{"press":1,"tap":2},"unknown":1}"#)
    }

    @Test("Queues are counted by state, with the ready queues first")
    func queues() throws {
        let states = [
            QueueState(.unknown, "rule-of-app", "t"), QueueState(.ready, "too-old", "t"),
            QueueState(.empty, "empty", "t"),
            QueueState(.notReady, "too-few", "t"), QueueState(.ready, "pings", "t"), QueueState(.ready, "too-old", "t"),
        ]
        let container = Container(path: "a", identifier: "org.a")
        let rows = states.map { state in
            Self.row(container) { $0.details.queue = EvaluatedQueue(rules: Rules(state: state), instant: 0) }
        }
        let entry = try #require(Self.rollUp(rows).entries.first)
        #expect(
            entry.sortedQueues.map { "\($0.count) \($0.state.readiness) \($0.state.code)" } == [
                "1 ready pings", "2 ready too-old", "1 notReady too-few", "1 empty empty", "1 unknown rule-of-app",
            ])
    }

    @Test(
        "Facts of several stores are listed with their number, and others are counted",
        arguments: [
            (["b", "a"], ["a 1", "b 1"], 0), (["a", "b", "c", "d"], [], 4),
            (["a", "b", "b", "c", "d", "c", "c"], ["c 3", "b 2"], 2),
            (["a", "b", "c", "d", "a", "b", "c", "d"], ["a 2", "b 2", "c 2"], 1),
        ])
    func facts(all: [String], common: [String], others: Int) throws {
        let container = Container(path: "a", identifier: "org.a")
        let rows = all.map { fact in Self.row(container) { $0.details.facts = [fact] } }
        let found = try #require(Self.rollUp(rows).entries.first).commonFacts
        #expect(found.facts.map { "\($0.text) \($0.stores)" } == common)
        #expect(found.others == others)
    }

    @Test("Problems are counted by code, with the first few of each")
    func problems() {
        var problems = ProblemsByCode()
        for number in 0..<5 {
            problems.add(LocatedProblem(capture: "c", path: "\(number)", problem: Problem("link", "t")))
        }
        problems.add(LocatedProblem(capture: "c", path: "x", problem: Problem("damaged", "t")))
        #expect(problems.sorted.map(\.code) == ["damaged", "link"])
        #expect(problems.sorted.map(\.problems.count) == [1, 5])
        #expect(problems.sorted.map { $0.problems.elements.map(\.path) } == [["x"], ["0", "1", "2"]])
    }

    @Test("Excess codes of problems are combined")
    func manyCodes() {
        var problems = ProblemsByCode()
        for number in 0..<3000 {
            problems.add(LocatedProblem(capture: "c", path: "p", problem: Problem("code-\(number)", "t")))
        }
        #expect(problems.sorted.count == 1001)
        #expect(problems.sorted.last?.code == "other")
        #expect(problems.sorted.last?.problems.count == 2000)
    }
}
