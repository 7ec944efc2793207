import Files
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of the counts that a report queries from its tables.
@Suite struct ReportDatabaseTests {
    private let database: ReportDatabase

    init() throws { database = try ReportDatabase(Systems.table, limit: JobLimit(jobs: 1)) }

    private func page() throws -> ReportPage {
        try database.commit()
        let facts = ReportFacts(
            generator: "pingferry", inputs: [], payloadByteCount: 0, duplicateCount: 0, isComplete: true)
        return try ReportPage(database, facts: facts, systems: Systems.table, minimumCount: 1)
    }

    private func counts(of values: String, limit: Int = 9) throws -> ReportCounts {
        let source = "SELECT column1 AS name, column2 AS count, column3 AS first FROM (VALUES \(values))"
        return try database.counts(of: ["name"], in: source, limit: limit, CountFormatter(minimumCount: 1))
    }

    @Test func valuesBeyondTheLimitAreCountedTogether() throws {
        let counts = try counts(of: "('a', 3, 1), (NULL, 5, 2), ('c', 1, 3)", limit: 2)
        #expect(counts.rows.map(\.names) == [[nil], ["a"]] && counts.rows.map(\.count) == [5, 3])
        #expect(counts.otherCount == 1 && counts.total == 9)
    }

    @Test func equalCountsAreInTheOrderOfTheirFirstOccurrence() throws {
        #expect(try counts(of: "('a', 2, 3), ('b', 2, 1), ('c', 3, 4)").rows.map(\.names) == [["c"], ["b"], ["a"]])
    }

    @Test func countsOfOtherValuesDoNotOverflow() throws {
        let count = Int.max
        #expect(try counts(of: "('a', \(count), 1), ('b', \(count), 2), ('c', \(count), 3)").otherCount == 0)
    }

    @Test(
        "Sums are exact or limited",
        arguments: [
            ([], 0), ([1 << 53, 1], 1 << 53 + 1), ([.max], .max), ([.max, 1], .max), ([.max, .max, .max], .max),
            ([1 << 62, 1 << 62 - 1], .max), ([1 << 62, 1 << 62], .max), ([0xFFFF_FFFF, 0xFFFF_FFFF], 0x1_FFFF_FFFE),
        ] as [([Int], Int)])
    func sums(numbers: [Int], sum: Int) throws {
        try database.run("CREATE TABLE numbers (number)")
        for number in numbers { try database.run("INSERT INTO numbers VALUES (\(number))") }
        #expect(try database.numbers("SELECT \(ReportDatabase.sum("number")) FROM numbers", count: 1) == [sum])
    }

    @Test func longNamesAreTruncated() throws {
        let name = String(repeating: "x", count: 200)
        #expect(try counts(of: "('\(name)', 1, 1)").rows.map(\.names) == [[String(repeating: "x", count: 160) + "…"]])
    }

    @Test(
        "Days and weeks are counted from 1970", arguments: [(-1, -1, -3), (0, 0, -3), (4, 4, 4), (-86_400_001, -2, -3)])
    func days(milliseconds: Int, day: Int, firstDayOfWeek: Int) throws {
        let time = milliseconds == 4 ? 4 * 86_400_000 : milliseconds
        let query = """
            SELECT day, \(CalendarWeek.firstDay(containing: "day")) FROM (SELECT \(ReportDatabase.day("time")) AS day
            FROM (SELECT \(time) AS time))
            """
        #expect(try database.numbers(query, count: 2) == [day, firstDayOfWeek])
        #expect(CalendarWeek(containing: day).firstDay == firstDayOfWeek)
    }

    // MARK: Clients

    private func addClient(
        _ number: Int, system: String = "s", _ client: String?, records: Int = 1, uploadable: Int = 0
    ) throws {
        let id = client.map(SchemaText.literal) ?? "NULL"
        try database.run(
            "INSERT INTO clients VALUES (\(number), '\(system)', \(id), NULL, NULL, \(records), \(uploadable), 0, NULL, NULL)"
        )
    }

    /// Adds a record without a time if `day` is `nil`.
    private func addRecord(
        _ number: Int, system: String = "s", of client: String?, day: Int? = nil, type: String = "t",
        app: String? = nil, version: String? = nil, device: String? = nil, locale: String? = nil, uploadable: Int = 0
    ) throws {
        let texts = [client, app, version, device, locale].map { $0.map(SchemaText.literal) ?? "NULL" }
        let time = day.map { String($0 * 86_400_000) } ?? "NULL"
        try database.run(
            """
            INSERT INTO record_runs (record, system, type, client, time_ms, app_name, app_version, device, locale_normalized,
            uploadable, count) VALUES (\(number), '\(system)', '\(type)', \(texts[0]), \(time),
            \(texts[1...].joined(separator: ", ")), \(uploadable), 1)
            """)
    }

    @Test("The app, phone and locale of a client are those of its latest record with a version, model or locale")
    func latestValues() throws {
        try addClient(1, "A")
        try addClient(2, nil)
        try addRecord(1, of: "a", day: 20, app: "x", version: "2", device: "d1", locale: "de")
        try addRecord(2, of: "A", day: 20, app: "x", version: "3", locale: "en")
        try addRecord(3, of: "A", day: 10, app: "x", version: "1", device: "d2", locale: "fr")
        try addRecord(4, of: "A", app: "x", version: "0", device: "d3", locale: "it")
        try addRecord(5, of: "A", day: 30, app: "y")
        try addRecord(6, of: nil, app: "z")
        try database.commit()
        func latest(_ column: String, _ table: String, owner: Int) throws -> String? {
            var found: String?
            let query = "SELECT \(column) FROM \(table) JOIN entries USING (record) WHERE \(table).owner = \(owner)"
            try database.forEachRow(of: query) { found = $0[0] }
            return found
        }
        #expect(try latest("version", "latest_apps", owner: 1) == "3")
        #expect(try latest("device", "latest_phones", owner: 1) == "d1")
        #expect(try latest("locale", "latest_locales", owner: 1) == "en")
        #expect(try latest("app", "latest_apps", owner: 2) == "z")
        #expect(try database.numbers("SELECT count(*), count(client) FROM entries", count: 2) == [6, 5])
    }

    @Test("At most 100 clients have rows")
    func largestClients() throws {
        for number in 1...120 {
            try addClient(number, "\(number)", records: number % 60 + 1)
            try addRecord(number, of: "\(number)")
        }
        let html = try page().clientSection.html.text
        // Each row has a title with the whole id.
        #expect(html.matches(of: /<code title="/).count == 100)
        #expect(html.contains("title=\"59\"") && html.contains("title=\"119\"") && !html.contains("title=\"1\""))
    }

    @Test(arguments: [(0, 0, 0), (1, 1, 1), (40, 40, 1), (41, 41, 2), (30, 101, 2), (80, 250, 3), (400, 400, 10)])
    func nights(maximumOfType: Int, maximumOfClient: Int, nights: Int) throws {
        try addClient(1, "A", records: maximumOfClient, uploadable: maximumOfClient)
        for number in 0..<maximumOfType { try addRecord(number, of: "A", uploadable: 1) }
        #expect(try page().totals.nightCount == nights)
    }

    @Test func firstOccurrencesAreExamples() throws {
        for number in 1...9 {
            try database.run("INSERT INTO problems VALUES (\(number), 'c', 'path-\(number)', NULL, 'x', 'text')")
        }
        let html = try page().problemSection.html.text
        #expect((1...9).map { html.contains("path-\($0)<") } == (1...9).map { $0 <= 5 })
        #expect(html.contains("<span id=\"problems\">9</span>"))
        // Only two locations are printed.
        #expect(html.matches(of: /<li class="screen"><bdi>c</).count == 3)
        #expect(html.contains("<li class=\"screen\">and 4 more</li><li class=\"paper\">and 7 more</li>"))
    }

    @Test("The events of unknown apps are divided by system, and the number of events on paper is exact")
    func appsOfEvents() throws {
        for number in 1...7 {
            try addClient(number, system: "s\(number % 2)", "\(number)")
            try addRecord(number, system: "s\(number % 2)", of: "\(number)", app: number > 4 ? "app-\(number)" : nil)
            for event in 0..<(number == 7 ? 12 : 1) {
                try database.run("INSERT INTO event_kinds VALUES (\(number), \(event), 'event-\(event)', NULL, 1)")
            }
        }
        let page = try page()
        let html = try page.activitySection.html.text
        for heading in [
            "unknown app (s0)</bdi>: 2 events", "unknown app (s1)</bdi>: 2 events", "app-5</bdi>: 1 event<",
        ] {
            #expect(html.contains("<h3><bdi>\(heading)"), "\(heading)")
        }
        #expect(html.contains("<p class=\"aside paper\">Not shown on paper: 2 events.</p>"))
        let clients = try page.clientSection.html.text
        #expect(clients.contains("<span class=\"none\">unknown app (s0)</span>"))
    }

    // MARK: Condensed rows

    private func rows(of query: String, columns: Int) throws -> [[String?]] {
        var found: [[String?]] = []
        try database.forEachRow(of: query) { row in found.append((0..<columns).map { row[$0] }) }
        return found
    }

    @Test("Similar records and their events are counted together, also across midnight")
    func condensedRows() async throws {
        let (day, midnight) = (86_400_000, 18_000 * 86_400_000)
        // The process started 1 ms before midnight, so that the second event is of the next day.
        let payload = Array(
            #"""
            {"events":[[0,"action","click","erase_button"],[1,"action","click","erase_button"],[2,"a","b"]],\#
            "processStartTimestamp":\#(midnight - 1)}
            """#.utf8)
        var export = try TableExport(
            .report(database), path: "", replacing: false, systems: Systems.table, limit: JobLimit(jobs: 2))
        // The third record is earlier than the second, and the client of the fourth is another one.
        for (index, (client, time)) in [("A", 7), ("A", 9), ("A", 8), ("B", 7), ("A", 7), ("A", day)].enumerated() {
            let record = Record(
                system: .mozilla, type: "focus-event", id: "\(index)", client: client,
                time: Timestamp(milliseconds: Int64(midnight + time)), payload: payload, source: Sample.source)
            var line: [UInt8] = []
            let written = record.write(to: &line)
            export.add(RecordSummary(record), line: line[...], payload: line[written.payload])
        }
        let counts = try await export.finish()
        #expect(counts["records"] == 6 && counts["events"] == 18)
        let runs = "SELECT record || '', client, (time_ms - \(midnight)) || '', count || '' FROM record_runs"
        #expect(
            try rows(of: runs, columns: 4) == [
                ["1", "A", "9", "3"], ["4", "B", "7", "1"], ["5", "A", "7", "1"], ["6", "A", "\(day)", "1"],
            ])
        let days = "SELECT (\(ReportDatabase.day("at_ms"))) || '', sum(count) || '' FROM event_days GROUP BY 1"
        #expect(try rows(of: days, columns: 2) == [["17999", "6"], ["18000", "12"]])
        let kinds = "SELECT record || '', name, count || '' FROM event_kinds ORDER BY record, n"
        let erase = "action.click.erase_button"
        #expect(
            try rows(of: kinds, columns: 3) == [
                ["1", erase, "6"], ["1", "a.b", "3"], ["4", erase, "2"], ["4", "a.b", "1"], ["5", erase, "4"],
                ["5", "a.b", "2"],
            ])
        #expect(
            try rows(of: "SELECT name, count || '', everyone || '' FROM kinds ORDER BY first", columns: 3)
                == [[erase, "12", "2"], ["a.b", "6", "2"]])
    }

    // MARK: Retention

    @Test("Each system has a table of retention, or a reason why it has none")
    func retentionOfSystems() throws {
        let records: [(system: String, client: String?, day: Int?)] = [
            ("a", "1", 0), ("b", "2", 0), ("b", "3", 7), ("c", nil, 0), ("d", "4", nil), ("e", "5", nil), ("e", nil, 0),
        ]
        for (index, record) in records.enumerated() {
            try addClient(index + 1, system: record.system, record.client)
            try addRecord(index + 1, system: record.system, of: record.client, day: record.day)
        }
        let html = try page().retentionSection.html.text
        for text in [
            "<h4>a: 1 client</h4>", "<h4>b: 2 clients</h4>", "c has no table, because its records have no clients.",
            "d has no table, because its records have no times.",
            "e has no table, because none of its records has both a client and a time.",
        ] {
            #expect(html.contains(text), "\(text)")
        }
        // The tables are printed.
        let tables = html.split(separator: "<h3>Retention by week</h3>")
        #expect(tables.count == 2 && tables[1].matches(of: /<table>/).count == 2 && !tables[1].contains("<details>"))
    }

    @Test("Times that a chart omits are counted beside it and are part of its table")
    func omittedTimes() throws {
        var chart = DayChart(
            id: "x", noun: "record", seriesNames: ["records"], countFormatter: CountFormatter(minimumCount: 1))
        for day in 0..<10 { chart.add(3, day: day, series: 0) }
        chart.add(3, day: 40, series: 0)
        chart.add(2, day: 9999, series: 0)
        chart.add(1, day: nil, series: 0)
        let html = chart.html.text
        #expect(html.contains("Dashed lines are in place of times without records."))
        #expect(html.contains("Not shown: 2 records from <span class=\"day\">1997-05-18</span>, more than a year away"))
        #expect(html.contains("Without a known time: 1 record."))
        #expect(html.contains("<th scope=\"row\">1970-01-11 to 1970-02-09</th><td class=\"n\">0</td>"))
    }

    @Test func retention() throws {
        var record = 0
        for (number, days) in [[0, 1, 7], [3, 14], [7, 14], [0, 7, 14], [10_000]].enumerated() {
            try addClient(number + 1, "\(number)")
            for day in days {
                record += 1
                try addRecord(record, of: "\(number)", day: day)
            }
        }
        try database.commit()
        let cohorts = try #require(try RetentionCohorts.bySystem(database, minimumCount: 1).first)
        #expect(cohorts.system == "s" && cohorts.clientCount == 5)
        // The last client is active too late. The week of 1970-01-01 began on day -3.
        #expect(cohorts.lastWeek == 11)
        #expect(cohorts.firstWeeks.map(\.firstDay) == [-3, 4])
        #expect(cohorts.firstWeeks.map { Array($0.counts.prefix(3)) } == [[3, 2, 2], [1, 1, 0]])
        // Three clients are active in each of the first three weeks.
        let hiding = try #require(try RetentionCohorts.bySystem(database, minimumCount: 4).first)
        #expect(hiding.lastWeek == -3 && hiding.firstWeeks.isEmpty)
    }
}
