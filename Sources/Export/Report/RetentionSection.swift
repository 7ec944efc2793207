/// The section about the activity of clients: clients by day and by week, and their retention.
extension ReportPage {
    var retentionSection: PageSection {
        get throws {
            PageSection(
                id: "returning", title: "Active clients",
                introduction: """
                    A client is active at the times of its records. The first week of a client is that of its first record in this report. \
                    Weeks start on Mondays. In the tables of retention, +1 is the week after the first week.
                    """,
                content: try [clientChart(.day), clientChart(.week)] + retentionTables)
        }
    }

    private func clientChart(_ unit: ChartUnit) throws -> HTML {
        // Only the systems with active clients have a color.
        var systems: [String] = []
        let query = """
            SELECT system, count(DISTINCT client) FROM entries GROUP BY system HAVING max(client IS NOT NULL AND day IS NOT NULL)
            ORDER BY min(record)
            """
        try database.forEachRow(of: query) { row in if !countFormatter.isHidden(row[1]) { systems.append(row[0]) } }
        var chart = DayChart(
            id: "clients-by-\(unit.rawValue)", noun: "active client", seriesNames: systems,
            countFormatter: countFormatter, unit: unit)
        let days = unit == .day ? "day" : CalendarWeek.firstDay(containing: "day")
        let counts = """
            SELECT \(days) AS start, system, count(DISTINCT client) FROM entries
            WHERE client IS NOT NULL AND day IS NOT NULL GROUP BY start, system
            """
        try database.forEachRow(of: counts) { row in
            let system: String = row[1]
            chart.add(row[2], day: row[0], series: systems.firstIndex(of: system))
        }
        return chart.html
    }

    // MARK: Retention

    /// The retention tables of all systems, and the systems for which there is none.
    private var retentionTables: [HTML] {
        get throws {
            let cohorts = try RetentionCohorts.bySystem(database, minimumCount: countFormatter.minimumCount)
            let shown = cohorts.filter { !countFormatter.isHidden($0.clientCount) }
            let sorted = shown.enumerated().sorted { left, right in
                let sizes = [left, right].map { countFormatter.chartValue($0.element.clientCount) }
                return (sizes[1], left.offset) < (sizes[0], right.offset)
            }
            let tables = sorted.map { _, cohorts -> HTML in
                "<h4>\(cohorts.system): \(countFormatter.text(cohorts.clientCount, "client"))</h4><div class=\"cohorts\">\(retentionTable(cohorts))</div>"
            }
            let others = try systemsWithoutTable(besides: shown.map(\.system))
            guard !tables.isEmpty || !others.isEmpty else { return [] }
            return ["<h3>Retention by week</h3>"] + tables + others
        }
    }

    /// Returns remarks about the systems that have no retention table.
    ///
    /// If small counts are hidden, systems with few clients are not distinguished from those without clients, and systems
    /// with few records are not named.
    private func systemsWithoutTable(besides systems: [String]) throws -> [HTML] {
        var remarks: [HTML] = []
        let query = """
            SELECT system, sum(count), total(client IS NOT NULL), total(day IS NOT NULL) FROM entries GROUP BY system
            ORDER BY min(record)
            """
        try database.forEachRow(of: query) { row in
            let system: String = row[0]
            guard !systems.contains(system), !countFormatter.isHidden(row[1]) else { return }
            let (clients, times): (Int64, Int64) = (row[2], row[3])
            let reason: HTML =
                if countFormatter.hidesSmallCounts {
                    "fewer than \(countFormatter.minimumCount) of its clients have records with a time"
                } else if clients == 0 {
                    "its records have no clients"
                } else if times == 0 {
                    "its records have no times"
                } else {
                    "none of its records has both a client and a time"
                }
            remarks.append(.aside("\(system) has no table, because \(reason)."))
        }
        return remarks
    }

    /// The maximum number of first weeks with separate rows.
    private static let maxFirstWeeks = 60

    private func retentionTable(_ cohorts: RetentionCohorts) -> HTML {
        let shown = cohorts.firstWeeks.filter { !countFormatter.isHidden($0.counts[0]) }.suffix(Self.maxFirstWeeks)
        let lastWeek = cohorts.lastWeek
        let width = shown.map { min((lastWeek - $0.firstDay) / 7 + 1, RetentionCohorts.weekCount) }.max() ?? 1
        var table = HTMLTable(
            "Clients of \(cohorts.system) by first week, and the number of them that were active in each later week",
            ["first week", .number("clients")] + (1..<width).map { .number("+\($0)") })
        for (firstDay, counts) in shown {
            let cells = (1..<width).map { offset in
                firstDay + 7 * offset > lastWeek ? "" : retentionCell(counts[offset], of: counts[0])
            }
            table.rows.append(
                ["\(DaySpan(days: firstDay..<firstDay + 1).name)", "\(countFormatter.text(counts[0]))"]
                    + cells)
        }
        let others = cohorts.clientCount - shown.reduce(0) { $0 + $1.counts[0] }
        let rest = countFormatter.remainder(
            of: shown.map { $0.counts[0] }, besides: others, "client", " with other first weeks")
        return "\(table.html)\(rest)"
    }

    /// Returns a cell with `count` and its share of `total`, the number of clients of the first week.
    ///
    /// The share is calculated from the shown numbers, so that it does not reveal hidden numbers.
    private func retentionCell(_ count: Int, of total: Int) -> HTML {
        guard count > 0 || countFormatter.hidesSmallCounts else { return "–" }
        let total = max(1, countFormatter.chartValue(total))
        let share = (200 * countFormatter.chartValue(count) + total) / (2 * total)
        let text: HTML = countFormatter.hidesSmallCounts ? "" : " <small>\(share)&nbsp;%</small>"
        return "<span class=\"heat\(min(4, (share + 24) / 25))\">\(countFormatter.text(count))\(text)</span>"
    }
}

/// The numbers of active clients of a system, grouped by the week of each client's first record.
///
/// A week is identified by its first day, counted from 1970-01-01.
struct RetentionCohorts {
    /// The number of weeks that are counted for each client, including its first week.
    static let weekCount = 13

    let system: String
    private var counts: [Int: [Int]] = [:]
    /// The number of clients with active weeks.
    private(set) var clientCount = 0
    private var clientsByWeek: [Int: Int] = [:]
    /// The smallest number of clients that is shown.
    private let minimumCount: Int

    private init(system: String, minimumCount: Int) {
        self.system = system
        self.minimumCount = minimumCount
    }

    /// Returns the cohorts of each system that has clients with active weeks, in the order of the first records.
    ///
    /// Weeks with fewer than `minimumCount` active clients do not determine the range of weeks of the cohorts.
    static func bySystem(_ database: ReportDatabase, minimumCount: Int) throws -> [RetentionCohorts] {
        var cohorts: [RetentionCohorts] = []
        let query = """
            WITH weeks AS (SELECT DISTINCT system, client, \(CalendarWeek.firstDay(containing: "day")) AS week FROM entries
            WHERE client IS NOT NULL AND day IS NOT NULL),
            offsets AS (SELECT system, week, min(week) OVER (PARTITION BY system, client) AS first FROM weeks)
            SELECT system, first, (week - first) / 7, count(*) FROM offsets
            JOIN (SELECT system, min(record) AS place FROM entries GROUP BY system) USING (system)
            GROUP BY place, system, first, week
            """
        try database.forEachRow(of: query) { row in
            let system: String = row[0]
            if cohorts.last?.system != system { cohorts.append(Self(system: system, minimumCount: minimumCount)) }
            cohorts[cohorts.count - 1].add(row[3], firstWeek: row[1], offset: row[2])
        }
        return cohorts
    }

    /// Adds the clients with the first week `firstWeek` that were active `offset` weeks later.
    private mutating func add(_ count: Int, firstWeek: Int, offset: Int) {
        if offset == 0 { clientCount += count }
        clientsByWeek[firstWeek + 7 * offset, default: 0] += count
        guard offset < Self.weekCount else { return }
        counts[firstWeek, default: Array(repeating: 0, count: Self.weekCount)][offset] += count
    }

    /// The first weeks in ascending order, with the number of clients that were active in the first week and in each
    /// later week.
    ///
    /// Weeks that are far away from most active clients are omitted.
    var firstWeeks: [(firstDay: Int, counts: [Int])] {
        weeks.compactMap { week in counts[week].map { (firstDay: week, counts: $0) } }
    }

    /// The last week with active clients, apart from omitted weeks, or that of 1970-01-01 if there is no such week.
    var lastWeek: Int { weeks.last ?? CalendarWeek(containing: 0).firstDay }

    private var weeks: [Int] {
        ReportCalendar.daysWithoutOutliers(clientsByWeek.filter { $0.value >= minimumCount })
    }
}
