import Files
import Systems
import Telemetry
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

    private func addClient(_ number: Int, _ client: String?, records: Int = 1, uploadable: Int = 0) throws {
        let id = client.map(SchemaText.literal) ?? "NULL"
        try database.run(
            "INSERT INTO clients VALUES (\(number), 's', \(id), NULL, NULL, \(records), \(uploadable), 0, NULL, NULL)")
    }

    /// Adds a record without a time if `day` is `nil`.
    private func addRecord(
        _ number: Int, of client: String?, day: Int? = nil, type: String = "t", app: String? = nil,
        version: String? = nil,
        device: String? = nil, locale: String? = nil, uploadable: Int = 0
    ) throws {
        let texts = [client, app, version, device, locale].map { $0.map(SchemaText.literal) ?? "NULL" }
        let time = day.map { String($0 * 86_400_000) } ?? "NULL"
        try database.run(
            """
            INSERT INTO records (record, system, type, client, time_ms, app_name, app_version, device, locale_normalized,
            uploadable) VALUES (\(number), 's', '\(type)', \(texts[0]), \(time), \(texts[1...].joined(separator: ", ")),
            \(uploadable))
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
    }

    // MARK: Retention

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
