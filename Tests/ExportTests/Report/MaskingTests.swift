import Systems
import Telemetry
import Testing

@testable import Export

/// Tests that a report with a minimum count does not reveal smaller counts.
@Suite struct MaskingTests {
    private static let minimumCount = 5

    @Test(
        arguments: [
            (0, 1, "0"), (1, 1, "1"), (999, 1, "999"), (1000, 1, "1,000"), (1_234_567, 1, "1,234,567"), (0, 5, "<5"),
            (1, 5, "<5"), (4, 5, "<5"), (5, 5, "5"), (9, 5, "5"), (2001, 1000, "2,000"), (999, 1000, "<1000"),
        ])
    func counts(count: Int, minimum: Int, text: String) {
        #expect(CountFormatter(minimumCount: minimum).text(count) == text)
    }

    @Test func hiddenEntriesAreAddedUp() {
        let formatter = CountFormatter(minimumCount: 5)
        let (shown, other) = formatter.shownEntries([("a", 9), ("b", 6), ("c", 4), ("d", 3)], limit: 3)
        #expect(shown.map(\.key) == ["a", "b"] && other == 7)
        #expect(formatter.shownEntries([("a", 9), ("b", 6)], limit: 1).otherCount == 6)
        #expect([0, 4, 5, 9].map(formatter.chartValue) == [0, 0, 5, 5])
    }

    /// Computes all counts of three parts that have the same formatted counts and the same formatted total.
    @Test func hiddenCountsRemainUncertain() {
        let formatter = CountFormatter(minimumCount: 3)
        var candidates: [[String]: [[Int]]] = [:]
        for number in 0..<729 {
            let parts = [number % 9, number / 9 % 9, number / 81]
            candidates[(parts + [parts.reduce(0, +)]).map(formatter.text), default: []].append(parts)
        }
        for (texts, candidates) in candidates {
            for part in 0..<3 where texts[part] == "<3" {
                let isCertain = Set(candidates.map { $0[part] }).count == 1
                #expect(!isCertain || candidates[0].allSatisfy { $0 % 3 == 2 }, "\(texts)")
            }
        }
    }

    // MARK: The page

    /// The number of records, and the properties that they have in common.
    private struct Group {
        let count: Int
        var client = "client-large"
        var type = "core"
        var version = "version-common"
        var device = "device-common"
        var event = "event-common"
        var day = 18_262
        var isUploadable = true
    }

    /// Creates a page of records, in which every name with `rare` has a count below the minimum.
    private func page(_ groups: [Group]) -> String {
        let tables = ExportTables(Systems.table)
        var buffer = RowBuffer(tables.all)
        func add(_ table: Table, _ values: [String: String], _ numbers: [String: Int]) {
            let cells = table.columns.map { column in
                numbers[column.name].map { Cell.integer(Int64($0)) } ?? buffer.keep(values[column.name])
            }
            buffer.add(cells, to: tables.index(of: table))
        }
        var record = 0
        for group in groups {
            for _ in 0..<group.count {
                record += 1
                add(
                    ExportTables.records,
                    [
                        "system": "system", "type": group.type, "client": group.client, "app_name": "app",
                        "app_version": group.version, "device": group.device, "payload": "{}",
                    ],
                    [
                        "record": record, "time_ms": group.day * 86_400_000, "uploadable": group.isUploadable ? 1 : 0,
                    ])
                add(
                    ExportTables.events, ["name": group.event],
                    ["record": record, "time_ms": group.day * 86_400_000])
                if !group.isUploadable { add(ExportTables.holds, ["code": "code-rare"], ["record": record]) }
            }
        }
        for client in Set(groups.map(\.client)).sorted() {
            let own = groups.filter { $0.client == client }
            let count = own.reduce(0) { $0 + $1.count }
            let uploadable = own.reduce(0) { $0 + ($1.isUploadable ? $1.count : 0) }
            let day = own.map(\.day).min().map { DaySpan(days: $0..<$0 + 1).name } ?? ""
            add(
                ExportTables.clients,
                ["system": "system", "client": client, "app_name": "app", "first": day, "last": day],
                ["records": count, "uploadable": uploadable, "events": count])
        }
        add(ExportTables.gaps, ["client": "client-rare", "reason": "missing"], ["first": 3, "last": 4, "count": 2])
        add(ExportTables.problems, ["capture": "capture", "path": "path-rare", "code": "code-rare"], [:])
        let counter = ReportCounter(Systems.table)
        counter.write(ReportTally(of: buffer, tables))
        let queue = ReportFacts.Queue(
            capture: "capture", path: "path-rare", sentences: ["3 events pending"],
            states: [QueueState(.ready, "rare", "state-rare")], pendingEventCount: 3)
        let facts = ReportFacts(
            generator: "pingferry", inputs: [.init(label: "capture", kind: "capture")], duplicateCount: 2,
            isComplete: true, queues: [queue])
        return ReportPage(counter, facts: facts, systems: Systems.table, minimumCount: Self.minimumCount).html.text
    }

    @Test func noCountBelowTheMinimumIsShownOrCanBeCalculated() {
        let html = page([
            Group(count: 18), Group(count: 3, client: "client-rare", device: "device-rare", day: 18_270),
            Group(count: 2, version: "version-rare"), Group(count: 1, type: "type-large", event: "event-rare"),
            Group(count: 4, isUploadable: false), Group(count: 11, client: "client-other", type: "type-large"),
            Group(count: 1, client: "client-single", version: "version-rare", day: 18_277),
        ])
        for name in ["client-s", "-rare", "3 events"] {
            #expect(!html.contains(name), "\(name)")
        }
        #expect(html.contains("<code title=\"client-large\"><bdi>client-l</bdi></code>"))
        // Only the two listed clients have a first and a last day.
        #expect(html.matches(of: /class="day"/).count == 4)
        #expect(html.contains("&lt;5"))
        // The longest bar has the full width, because bars have the same precision as numbers.
        let widths = html.matches(of: /class="bar"[^>]*><rect class="s0" width="(\d+)"/).map { String($0.1) }
        #expect(!widths.isEmpty && widths.allSatisfy { $0 == "1000" })
        var text = html.replacing(/<style>[^<]*<\/style>/, with: "")
        text = text.replacing(/<[^>]*title="([^"]*)"[^>]*>/) { " \($0.1) " }.replacing(/<[^>]*>/, with: " ")
        // The numbers of dates, sizes, hidden counts and later weeks are not counts.
        for pattern in [/\d{4}-\d\d-\d\d/, /[\d.]+ (?:bytes|kB)/, /&lt;5/, /\+\d+/] {
            text = text.replacing(pattern, with: " ")
        }
        let numbers = text.matches(of: /[\d,]*\d/).compactMap { Int($0.output.replacing(",", with: "")) }
        // The numbers include 40 records, 35 uploadable records, and 10 records of a client.
        #expect(Set([40, 35, 10]).isSubset(of: numbers))
        #expect(numbers.filter { $0 % Self.minimumCount != 0 }.isEmpty)
    }

    @Test func nothingIsListedBelowTheMinimum() {
        let html = page([Group(count: 2, client: "client-rare"), Group(count: 1, version: "version-rare")])
        for name in ["client-large", "core", "-common", "-rare"] { #expect(!html.contains(name), "\(name)") }
    }
}
