import Files
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

    /// The counts of four values of a column, of which `everyone` is the number of clients.
    private func counts(
        _ values: [(name: String, count: Int, everyone: Int)], minimumCount: Int, limit: Int
    ) throws -> ReportCounts {
        let database = try ReportDatabase(Systems.table, limit: JobLimit(jobs: 1))
        let rows = values.enumerated().map { "('\($1.name)', \($1.count), \($1.everyone), \($0))" }
        return try database.counts(
            of: ["name"],
            in: "SELECT column1 AS name, column2 AS count, column3 AS everyone, column4 AS first "
                + "FROM (VALUES \(rows.joined(separator: ", ")))",
            everyone: "everyone", limit: limit, CountFormatter(minimumCount: minimumCount))
    }

    @Test func hiddenCountsAreAddedUp() throws {
        let values = [("a", 9, 9), ("b", 6, 9), ("c", 4, 9), ("d", 3, 9)]
        let all = try counts(values, minimumCount: 5, limit: 3)
        #expect(all.rows.map(\.names) == [["a"], ["b"]] && all.otherCount == 7 && all.total == 22)
        #expect(try counts(values, minimumCount: 5, limit: 1).otherCount == 13)
        #expect(try counts(values, minimumCount: 10, limit: 1).otherCount == 22)
        #expect([0, 4, 5, 9].map(CountFormatter(minimumCount: 5).chartValue) == [0, 0, 5, 5])
    }

    @Test("Values whose counts are shown as equal are in the order of their names")
    func orderOfValues() throws {
        let values = [("d", 14, 9), ("c", 9, 9), ("e", 8, 9), ("a", 6, 9), ("b", 5, 9), ("z", 9, 9)]
        func names(minimumCount: Int, limit: Int) throws -> [String?] {
            try counts(values, minimumCount: minimumCount, limit: limit).rows.map { $0.names[0] }
        }
        #expect(try names(minimumCount: 5, limit: 3) == ["d", "a", "b"])
        #expect(try names(minimumCount: 1, limit: 4) == ["d", "c", "z", "e"])
    }

    @Test("A value of too few clients is not named")
    func valuesOfFewClients() throws {
        let found = try counts([("a", 90, 4), ("b", 60, 5)], minimumCount: 5, limit: 9)
        #expect(found.rows.map(\.names) == [["b"]] && found.otherCount == 90)
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
    ) throws -> String {
        let database = try ReportDatabase(Systems.table, limit: JobLimit(jobs: 1))
        func literal(_ text: String?) -> String { text.map(SchemaText.literal) ?? "NULL" }
        var record = 0
        var records: [String: [Group]] = [:]
        for group in groups {
            for number in 0..<group.count {
                record += 1
                let client = group.client(ofRecord: number)
                records[client, default: []].append(group)
                let time = group.day * 86_400_000
                try database.run(
                    """
                    INSERT INTO record_runs
                    (record, system, type, client, time_ms, app_name, app_version, device, os, uploadable, count)
                    VALUES (\(record), 'system', \(literal(group.type)), \(literal(client)), \(time), \(literal(group.app)),
                    \(literal(group.version)), \(literal(group.device)), \(literal(group.os)), \(group.isUploadable ? 1 : 0), 1);
                    INSERT INTO event_days VALUES (\(record), 0, \(time), 1);
                    INSERT INTO event_kinds VALUES (\(record), 0, \(literal(group.event)), NULL, 1);
                    INSERT INTO searches VALUES (\(record), 0, NULL, \(literal(group.engine)), \(group.searchCount))
                    """)
                if !group.isUploadable { try database.run("INSERT INTO holds VALUES (\(record), 0, 'code-rare')") }
            }
        }
        for (number, (client, own)) in records.sorted(by: { $0.key < $1.key }).enumerated() {
            let apps = Set(own.compactMap(\.app)).sorted()
            let day = own.map(\.day).min().map { DaySpan(days: $0..<$0 + 1).name } ?? ""
            try database.run(
                """
                INSERT INTO clients VALUES (\(number + 1), 'system', \(literal(client)), NULL,
                \(literal(apps.isEmpty ? nil : apps.joined(separator: ", "))), \(own.count), \(own.count(where: \.isUploadable)),
                \(own.count), \(literal(day)), \(literal(day)))
                """)
        }
        if hasRareItems {
            try database.run(
                """
                INSERT INTO gaps VALUES (1, 'system', 'type', 'client-rare', 'missing', 3, 4, 2, NULL, NULL);
                INSERT INTO problems VALUES (1, 'capture', 'path-rare', NULL, 'code-rare', 'text-rare');
                INSERT INTO quarantine VALUES (1, 'capture', 'path-rare', NULL, 'code-rare', 'code-rare text-rare');
                INSERT INTO queues VALUES (1, 'ready', 'state-rare')
                """)
        }
        try database.commit()
        let queue = ReportQueue(
            capture: "capture", path: "path-rare", sentences: ["3 events pending"], pendingEventCount: 3)
        let facts = ReportFacts(
            generator: "pingferry", inputs: [.init(label: "capture", kind: "capture")], payloadByteCount: 2 * record,
            duplicateCount: hasRareItems ? 2 : 0, isComplete: !hasRareItems, queues: hasRareItems ? [queue] : [])
        return try ReportPage(database, facts: facts, systems: Systems.table, minimumCount: minimumCount).makeHTML()
            .text
    }

    @Test func noCountBelowTheMinimumIsShownOrCanBeCalculated() throws {
        let html = try page([
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

    @Test func appsAndPhonesOfSingleClients() throws {
        let html = try page(
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

    @Test func nothingIsListedBelowTheMinimum() throws {
        let html = try page([Group(count: 2, client: "client-rare"), Group(count: 1, version: "version-rare")])
        for name in ["client-", "core", "-common", "-rare"] { #expect(!html.contains(name), "\(name)") }
    }

    @Test("A page with a few gaps, problems, queues and duplicates equals a page without any")
    func noneAndFewAreNotDistinguished() throws {
        for groups in [[], [Group(count: 30)]] {
            #expect(try page(groups, hasRareItems: false) == page(groups))
        }
    }

    @Test("A few records of other days or of another type do not change what is shown")
    func fewRecordsAreNotDistinguished() throws {
        let common = Group(count: 31)
        let text = try page([common, Group(count: 2, type: "type-rare", event: "event-rare", day: 18_290)])
        #expect(text.contains("event-common") && !text.contains("other types"))
        #expect(try text == page([common, Group(count: 2)]))
    }

    @Test("Charts do not start with a day that has few records")
    func firstDayHasManyRecords() throws {
        let html = try page([
            Group(count: 30, day: 18_270), Group(count: 4, day: 18_264), Group(count: 1, day: 18_265),
        ])
        #expect(html.contains("2020-01-09"))
        // The weeks start on 2019-12-30 and 2020-01-06.
        for day in ["2020-01-03", "2020-01-04"] { #expect(!html.contains(day), "\(day)") }
        #expect(html.contains("Not shown: 5 records at other times."))
    }

    @Test("A few records of another type do not change the legend")
    func fewRecordsDoNotChangeColors() throws {
        let groups = (0..<6).map { Group(count: 8, type: "type-\($0)") }
        let text = try page(groups + [Group(count: 8, type: "type-6")])
        #expect(text.contains("<bdi>system type-6</bdi></li>"))
        #expect(try text == page(groups + [Group(count: 7, type: "type-6"), Group(count: 1, type: "type-rare")]))
    }
}
