/// The section about the activity of clients: clients by day and by week, and their retention.
extension ReportPage {
    var retentionSection: PageSection {
        PageSection(
            id: "returning", title: "Active clients",
            introduction: """
                A client is active at the times of its records. The first week of a client is that of its first record in this report. \
                Weeks start on Mondays.
                """,
            content: [clientChart(.day), clientChart(.week)] + retentionTables + [discardedText])
    }

    private struct SystemDay: Hashable {
        let system: Int
        let day: Int
    }

    private func clientChart(_ unit: ChartUnit) -> HTML {
        var counts = BoundedCounts<SystemDay>(keyLimit: 20_000)
        let clientCounts = tally.profiles.clientCounts { $0.system.map { [$0] } ?? [] }
        for client in tally.profiles.clients {
            guard let system = client.system, !countFormatter.isHidden(clientCounts[system] ?? 0) else { continue }
            let days = unit == .day ? client.days.days : client.days.activeWeeks.map(\.firstDay)
            for day in days { counts.add(SystemDay(system: system, day: day)) }
        }
        // Only the systems with active clients have a color.
        let systems = Set(counts.keys.map(\.system)).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(systems, 0...))
        var chart = DayChart(
            id: "clients-by-\(unit.rawValue)", noun: "active client",
            seriesNames: systems.map { tally.recordsBySystem.entries[$0].key.string }, countFormatter: countFormatter,
            unit: unit)
        for (key, count) in counts.entries { chart.add(count, day: key.day, series: numbers[key.system] ?? 0) }
        return chart.html
    }

    private var discardedText: HTML {
        let count = tally.profiles.clients.count(where: \.days.exceedsLimit)
        return countFormatter.aside(
            count,
            "Not counted: \(countFormatter.text(count, "client")) with records in more than \(ActiveDays.maxWeekCount) weeks."
        )
    }

    // MARK: Retention

    /// The retention tables of all systems.
    ///
    /// Only the first table is always visible.
    private var retentionTables: [HTML] {
        let cohorts = RetentionCohorts.bySystem(tally.profiles, minimumCount: countFormatter.minimumCount).filter {
            !countFormatter.isHidden($0.value.clientCount)
        }
        let sorted = cohorts.sorted {
            let left = (countFormatter.chartValue($1.value.clientCount), $0.key)
            return left < (countFormatter.chartValue($0.value.clientCount), $1.key)
        }
        return sorted.enumerated().map { index, cohorts in
            let name = tally.recordsBySystem.entries[cohorts.key].key.string
            let table = retentionTable(name, cohorts.value)
            return index == 0
                ? "<h3>Retention by week</h3>\(table)" : .details("Retention of clients of \(name)", table)
        }
    }

    /// The maximum number of first weeks with separate rows.
    private static let maxFirstWeeks = 60

    private func retentionTable(_ system: String, _ cohorts: RetentionCohorts) -> HTML {
        let shown = cohorts.firstWeeks.filter { !countFormatter.isHidden($0.counts[0]) }.suffix(Self.maxFirstWeeks)
        let lastWeek = cohorts.lastWeek
        let width = shown.map { min(lastWeek - $0.week.number + 1, RetentionCohorts.weekCount) }.max() ?? 1
        var table = HTMLTable(
            "Clients of \(system) by first week, and the number of them that were active in each later week",
            ["first week", .number("clients")] + (1..<width).map { .number("+\($0)") })
        for (week, counts) in shown {
            let cells = (1..<width).map { offset in
                week.number + offset > lastWeek ? "" : retentionCell(counts[offset], of: counts[0])
            }
            table.rows.append(
                ["\(DaySpan(days: week.firstDay..<week.firstDay + 1).name)", "\(countFormatter.text(counts[0]))"]
                    + cells)
        }
        let others = cohorts.clientCount - shown.reduce(0) { $0 + $1.counts[0] }
        let rest = countFormatter.aside(
            others, "Not shown: \(countFormatter.text(others, "client")) with other first weeks.")
        let note: HTML =
            "<p class=\"aside\">System \(system). +1 is the week after the first week of a client.</p>"
        return shown.isEmpty ? rest : "\(note)\(table.html)\(rest)"
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
struct RetentionCohorts {
    /// The number of weeks that are counted for each client, including its first week.
    static let weekCount = 13

    private var counts: [Int: [Int]] = [:]
    /// The number of clients with active weeks.
    private(set) var clientCount = 0
    private var clientsByWeek: [Int: Int] = [:]
    /// The smallest number of clients that is shown.
    private let minimumCount: Int

    private init(minimumCount: Int) { self.minimumCount = minimumCount }

    /// Returns the cohorts of each system that has clients with active weeks.
    ///
    /// Weeks with fewer than `minimumCount` active clients do not determine the range of weeks of the cohorts. The keys
    /// are indices in ``ReportTally/recordsBySystem``.
    static func bySystem(_ profiles: ClientProfiles, minimumCount: Int) -> [Int: RetentionCohorts] {
        var cohorts: [Int: RetentionCohorts] = [:]
        for client in profiles.clients {
            guard let system = client.system else { continue }
            cohorts[system, default: RetentionCohorts(minimumCount: minimumCount)].add(client.days.activeWeeks)
        }
        return cohorts.filter { $0.value.clientCount > 0 }
    }

    private mutating func add(_ weeks: [CalendarWeek]) {
        guard let first = weeks.first else { return }
        clientCount += 1
        for week in weeks {
            clientsByWeek[week.firstDay, default: 0] += 1
            let offset = week.number - first.number
            guard offset < Self.weekCount else { continue }
            counts[first.number, default: Array(repeating: 0, count: Self.weekCount)][offset] += 1
        }
    }

    /// The first weeks in ascending order, with the number of clients that were active in the first week and in each
    /// later week.
    ///
    /// Weeks that are far away from most active clients are omitted.
    var firstWeeks: [(week: CalendarWeek, counts: [Int])] {
        let calendar = calendar
        return counts.map { (CalendarWeek(number: $0.key), $0.value) }
            .filter { calendar?.index(of: $0.0.firstDay) != nil }.sorted { $0.0.number < $1.0.number }
    }

    private var calendar: ReportCalendar? { ReportCalendar(clientsByWeek, unit: .week, minimumCount: minimumCount) }

    /// The number of the last week with active clients, apart from omitted weeks, or 0 if there is no such week.
    var lastWeek: Int {
        let calendar = calendar
        let last = clientsByWeek.keys.filter { calendar?.index(of: $0) != nil }.max()
        return last.map { CalendarWeek(containing: $0).number } ?? 0
    }
}
