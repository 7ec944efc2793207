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

    @Test("Entries whose counts are shown as equal are in the order of their names")
    func orderOfEntries() {
        let entries = [("d", 14), ("c", 9), ("e", 8), ("a", 6), ("b", 5)]
        func keys(minimumCount: Int, limit: Int) -> [String] {
            CountFormatter(minimumCount: minimumCount).shownEntries(entries, limit: limit).shown.map(\.key)
        }
        #expect(keys(minimumCount: 5, limit: 3) == ["d", "a", "b"])
        #expect(keys(minimumCount: 1, limit: 3) == ["d", "c", "e"])
    }

    @Test("An entry of too few clients is not named")
    func entriesOfFewClients() {
        let (shown, other) = CountFormatter(minimumCount: 5).shownEntries([("a", 90), ("b", 60)], limit: 9) {
            $0 == "a" ? 4 : 5
        }
        #expect(shown.map(\.key) == ["b"] && other == 90)
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

    /// The number of records, the number of clients to which they belong, and their common properties.
    private struct Group {
        let count: Int
        var client = "client-common"
        var clientCount = 6
        var app: String? = "app"
        var type = "core"
        var version = "version-common"
        var device = "device-common"
        var os = "iOS"
        var event = "event-common"
        var engine = "engine-common"
        var searchCount = 1
        var day = 18_262
        var isUploadable = true

        func client(ofRecord number: Int) -> String { "\(client)-\(number % clientCount)" }
    }

    /// Creates a page of records, in which every name with `rare` has a count below the minimum.
    ///
    /// Gaps, problems, quarantined items, queues and duplicates are also rare.
    private func page(
        _ groups: [Group], hasRareItems: Bool = true, minimumCount: Int = Self.minimumCount
    ) -> String {
        let tables = ExportTables(Systems.table)
        let searches = tables.all.first { $0.name == "searches" }
        var buffer = RowBuffer(tables.all)
        func add(_ table: Table, _ values: [String: String?], _ numbers: [String: Int]) {
            let cells = table.columns.map { column in
                numbers[column.name].map { Cell.integer(Int64($0)) } ?? buffer.keep(values[column.name] ?? nil)
            }
            buffer.add(cells, to: tables.index(of: table))
        }
        var record = 0
        var records: [String: [Group]] = [:]
        for group in groups {
            for number in 0..<group.count {
                record += 1
                let client = group.client(ofRecord: number)
                records[client, default: []].append(group)
                add(
                    ExportTables.records,
                    [
                        "system": "system", "type": group.type, "client": client, "app_name": group.app,
                        "app_version": group.version, "device": group.device, "os": group.os, "payload": "{}",
                    ],
                    [
                        "record": record, "time_ms": group.day * 86_400_000, "uploadable": group.isUploadable ? 1 : 0,
                    ])
                add(
                    ExportTables.events, ["name": group.event],
                    ["record": record, "at_ms": group.day * 86_400_000])
                if let searches {
                    add(searches, ["engine": group.engine], ["record": record, "count": group.searchCount])
                }
                if !group.isUploadable { add(ExportTables.holds, ["code": "code-rare"], ["record": record]) }
            }
        }
        for (client, own) in records.sorted(by: { $0.key < $1.key }) {
            let count = own.count
            let uploadable = own.count(where: \.isUploadable)
            let apps = Set(own.compactMap(\.app)).sorted()
            let day = own.map(\.day).min().map { DaySpan(days: $0..<$0 + 1).name } ?? ""
            add(
                ExportTables.clients,
                [
                    "system": "system", "client": client,
                    "app_name": apps.isEmpty ? nil : apps.joined(separator: ", "), "first": day, "last": day,
                ],
                ["records": count, "uploadable": uploadable, "events": count])
        }
        if hasRareItems {
            add(
                ExportTables.gaps, ["client": "client-rare", "reason": "missing"], ["first": 3, "last": 4, "count": 2])
            add(ExportTables.problems, ["capture": "capture", "path": "path-rare", "code": "code-rare"], [:])
            add(ExportTables.quarantine, ["capture": "capture", "path": "path-rare", "code": "code-rare"], [:])
        }
        let counter = ReportCounter(Systems.table, hidesSmallCounts: minimumCount > 1)
        counter.write(ReportTally(of: buffer, tables, collectsValues: minimumCount > 1))
        let queue = ReportQueue(
            capture: "capture", path: "path-rare", sentences: ["3 events pending"],
            states: [QueueState(.ready, "rare", "state-rare")], pendingEventCount: 3)
        let facts = ReportFacts(
            generator: "pingferry", inputs: [.init(label: "capture", kind: "capture")],
            duplicateCount: hasRareItems ? 2 : 0,
            isComplete: !hasRareItems, queues: hasRareItems ? [queue] : [])
        return ReportPage(counter, facts: facts, systems: Systems.table, minimumCount: minimumCount).html.text
    }

    @Test func noCountBelowTheMinimumIsShownOrCanBeCalculated() {
        let html = page([
            Group(count: 18), Group(count: 3, client: "client-rare", device: "device-rare", day: 18_270),
            Group(count: 2, version: "version-rare"), Group(count: 1, type: "type-large", event: "event-rare"),
            Group(count: 4, isUploadable: false), Group(count: 11, client: "client-other", type: "type-large"),
            Group(count: 1, client: "client-single", version: "version-rare", day: 18_277),
            Group(
                count: 15, client: "client-single", clientCount: 1, app: "app-rare", device: "device-rare",
                event: "event-rare", engine: "ENGINE-common", searchCount: 9),
        ])
        // The last group has many records, but of one client only.
        for name in ["client-", "-rare", "ENGINE", "3 events", "class=\"day\"", "2020-01-09"] {
            #expect(!html.contains(name), "\(name)")
        }
        for name in ["version-common", "device-common", "event-common", "engine-common", "type-large", "&lt;5"] {
            #expect(html.contains(name), "\(name)")
        }
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
        // The numbers include 55 records, 50 uploadable records, and 14 clients.
        #expect(Set([55, 50, 10]).isSubset(of: numbers))
        #expect(numbers.filter { $0 % Self.minimumCount != 0 }.isEmpty)
    }

    @Test func appsAndPhonesOfSingleClients() {
        let html = page(
            [
                Group(count: 1, client: "a", clientCount: 1, app: nil, version: "2431"),
                Group(count: 1, client: "b", clientCount: 1, app: "Fennec", version: "10.0"),
                Group(count: 1, client: "b", clientCount: 1, app: "WebXR", version: "10.0"),
                Group(count: 1, client: "c", clientCount: 1, app: "WebXR", version: "10.0", os: "ios"),
            ], minimumCount: 1)
        // The version of a client with two apps belongs to one of them.
        for text in ["unknown 2431", "Fennec, WebXR", "WebXR 10.0", "device-common iOS"] {
            #expect(html.contains("<td><bdi>\(text)</bdi></td>"), "\(text)")
        }
        #expect(!html.contains("ios</bdi>"))
    }

    @Test func nothingIsListedBelowTheMinimum() {
        let html = page([Group(count: 2, client: "client-rare"), Group(count: 1, version: "version-rare")])
        for name in ["client-", "core", "-common", "-rare"] { #expect(!html.contains(name), "\(name)") }
    }

    @Test("A page with a few gaps, problems, queues and duplicates equals a page without any")
    func noneAndFewAreNotDistinguished() {
        for groups in [[], [Group(count: 30)]] {
            #expect(page(groups, hasRareItems: false) == page(groups))
        }
    }

    @Test("A few records of other days or of another type do not change what is shown")
    func fewRecordsAreNotDistinguished() {
        let common = Group(count: 31)
        let text = page([common, Group(count: 2, type: "type-rare", event: "event-rare", day: 18_290)])
        #expect(text.contains("event-common") && !text.contains("other types"))
        #expect(text == page([common, Group(count: 2)]))
    }

    @Test("Charts do not start with a day that has few records")
    func firstDayHasManyRecords() {
        let html = page([
            Group(count: 30, day: 18_270), Group(count: 4, day: 18_264), Group(count: 1, day: 18_265),
        ])
        #expect(html.contains("2020-01-09"))
        // The weeks start on 2019-12-30 and 2020-01-06.
        for day in ["2020-01-03", "2020-01-04"] { #expect(!html.contains(day), "\(day)") }
        #expect(html.contains("Not shown: 5 records at other times."))
    }

    @Test("A few records of another type do not change the legend")
    func fewRecordsDoNotChangeColors() {
        let groups = (0..<6).map { Group(count: 8, type: "type-\($0)") }
        let text = page(groups + [Group(count: 8, type: "type-6")])
        #expect(text.contains("<bdi>system type-6</bdi></li>"))
        #expect(text == page(groups + [Group(count: 7, type: "type-6"), Group(count: 1, type: "type-rare")]))
    }
}
