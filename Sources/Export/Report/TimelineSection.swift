import Bytes

/// The timeline section: records by day and type, and events by day.
extension ReportPage {
    var timelineSection: PageSection {
        get throws {
            PageSection(
                id: "time", title: "Over time",
                introduction:
                    "The times at which phones queued records and at which events happened, according to the clocks of the phones.",
                content: [try recordChart, try eventChart])
        }
    }

    /// The maximum number of record kinds with separate colors.
    private static let maxColors = 6

    private var recordChart: HTML {
        get throws {
            let source =
                "SELECT system, type, sum(count) AS count, min(record) AS first FROM entries GROUP BY system, type"
            let kinds = try database.counts(
                of: ["system", "type"], in: source, limit: Self.maxColors + 1, countFormatter)
            // If only one kind would be shown as "other types", it has its own color instead.
            let hasOthers = !countFormatter.isNone(kinds.otherCount)
            let colored = kinds.rows.prefix(hasOthers ? Self.maxColors : kinds.rows.count).map { row in
                row.names.map { $0 ?? "" }.joined(separator: " ")
            }
            var chart = DayChart(
                id: "records-chart", noun: "record", seriesNames: colored + (hasOthers ? ["other types"] : []),
                countFormatter: countFormatter)
            let numbers = Dictionary(zip(colored.map { CapturedText($0) }, 0...)) { first, _ in first }
            let query = "SELECT day, sum(count), system || ' ' || type FROM entries GROUP BY day, system, type"
            try database.forEachRow(of: query) { row in
                let kind = CapturedText(row.displayText(2) ?? "")
                chart.add(row[1], day: row[0], series: numbers[kind] ?? (hasOthers ? colored.count : nil))
            }
            return chart.html
        }
    }

    private var eventChart: HTML {
        get throws {
            var chart = DayChart(
                id: "events-chart", noun: "event", seriesNames: ["events"], countFormatter: countFormatter)
            let query = "SELECT \(ReportDatabase.day("at_ms")) AS day, sum(count) FROM event_days GROUP BY day"
            try database.forEachRow(of: query) { row in
                chart.add(row[1], day: row[0], series: 0)
            }
            return chart.html
        }
    }
}

/// A chart of counts by day, with a table of the same counts.
struct DayChart {
    let id: String
    /// The noun for the counted items, such as `record`.
    let noun: String
    let seriesNames: [String]
    let countFormatter: CountFormatter
    /// The time span of each bar, or `nil` if it depends on the number of days.
    let unit: ChartUnit?
    /// The number of items without a day.
    private var undatedCount = 0
    private var countsByDay: [Int: [Int]] = [:]

    init(
        id: String, noun: String, seriesNames: [String], countFormatter: CountFormatter,
        unit: ChartUnit? = nil
    ) {
        self.unit = unit
        self.id = id
        self.noun = noun
        self.seriesNames = seriesNames
        self.countFormatter = countFormatter
    }

    /// Adds items of a day, or items without a day.
    ///
    /// Items of a day are ignored if `series` is `nil`.
    mutating func add(_ count: Int, day: Int?, series: Int?) {
        guard let day else { return undatedCount += count }
        guard let series else { return }
        countsByDay[day, default: Array(repeating: 0, count: seriesNames.count)][series] += count
    }

    var html: HTML {
        let sums = countsByDay.mapValues { $0.reduce(0, +) }
        guard let calendar = ReportCalendar(sums, unit: unit, minimumCount: countFormatter.minimumCount) else {
            return "<h3>\(heading)</h3>\(noneText)\(remarks([untimedText]))"
        }
        var values = seriesNames.map { _ in Array(repeating: 0, count: calendar.spans.count) }
        var outside: [Int: Int] = [:]
        // Each day has its own elements, so that the order does not matter.
        for (day, series) in countsByDay {
            guard let index = calendar.index(of: day) else {
                outside[day] = series.reduce(0, +)
                continue
            }
            for (number, count) in series.enumerated() { values[number][index] += count }
        }
        let name = "\(heading) by \(calendar.unit.rawValue)"
        let title = "\(name), from \(calendar.spans.first?.start ?? "") to \(calendar.spans.last?.end ?? "")"
        let chart = StackedBars(
            title: title, bars: calendar.spans,
            series: zip(seriesNames, values).map { ChartSeries(name: $0, values: $1) },
            countFormatter: countFormatter)
        return """
            <figure><figcaption><h3>\(name)</h3>\(legend)</figcaption>
            \(chart.svg(id: "\(id)-title"))</figure>
            \(remarks([pauseText(calendar.spans.pauses), outsideText(outside, calendar), untimedText]))\
            \(.details("Numbers of this chart", table(title, calendar, values)))

            """
    }

    private var noneText: HTML {
        guard countFormatter.hidesSmallCounts else {
            return countFormatter.noneText(undatedCount == 0 ? "\(noun)s" : "\(noun)s with a time")
        }
        let unit = (unit ?? .week).rawValue
        return "<p>There is no \(unit) with at least \(countFormatter.minimumCount) \(noun)s.</p>"
    }

    private var heading: String { noun.prefix(1).uppercased() + noun.dropFirst() + "s" }

    private var legend: HTML {
        guard seriesNames.count > 1 else { return "" }
        let items = seriesNames.enumerated().map { number, name -> HTML in
            "<li>\(.colorSample(number)) <bdi>\(name)</bdi></li>"
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }

    /// Returns sentences as a paragraph, or nothing if all of them are empty.
    private func remarks(_ sentences: [HTML]) -> HTML {
        let sentences = sentences.filter { !$0.text.isEmpty }
        return sentences.isEmpty ? "" : .aside(HTML(sentences, separator: " "))
    }

    private var untimedText: HTML {
        let count = undatedCount
        return countFormatter.isNone(count) ? "" : "Without a known time: \(countFormatter.text(count, noun))."
    }

    private func pauseText(_ pauses: [DaySpan]) -> HTML {
        guard !pauses.isEmpty else { return "" }
        return countFormatter.hidesSmallCounts
            ? "Dashed lines are in place of times with small counts only."
            : "Dashed lines are in place of times without \(noun)s."
    }

    /// Returns a remark about the items on days that the chart does not show.
    private func outsideText(_ outside: [Int: Int], _ calendar: ReportCalendar) -> HTML {
        // A client can be active on several days, so that the days are counted instead.
        let count = unit == nil ? outside.values.reduce(0, +) : outside.count
        guard !countFormatter.isNone(count), let first = outside.keys.min(), let last = outside.keys.max() else {
            return ""
        }
        let items: HTML =
            unit == nil
            ? "\(countFormatter.text(count, noun))"
            : "\(countFormatter.text(count, calendar.unit.rawValue)) with \(noun)s"
        let limit: HTML =
            calendar.omitsEarlierSpans
            ? "Only the last \(calendar.spans.count) \(calendar.unit.rawValue)s are shown. " : ""
        guard !countFormatter.hidesSmallCounts else { return "\(limit)Not shown: \(items) at other times." }
        let days: HTML = "\(limit)Not shown: \(items) from \(DaySpan(days: first..<last + 1).html)"
        guard !calendar.omitsEarlierSpans else { return "\(days)." }
        return "\(days), more than a year away from the others. The clock of a phone may have been wrong."
    }

    private func table(_ title: String, _ calendar: ReportCalendar, _ values: [[Int]]) -> HTML {
        let unit: HTML = "\(calendar.unit.rawValue)"
        var table = HTMLTable(
            title, [.init(title: unit)] + seriesNames.map { HTMLTable.Column.number("<bdi>\($0)</bdi>") })
        table.visibleRowCount = .max
        let none = values.map { _ in 0 }
        var rows: [(days: Range<Int>, values: [Int])] = []
        // Consecutive spans without a shown number, and the omitted times between them, have one row.
        func add(_ days: Range<Int>, _ values: [Int]) {
            if let last = rows.last, last.values == none, values == none {
                rows[rows.count - 1].days = last.days.lowerBound..<days.upperBound
            } else {
                rows.append((days, values))
            }
        }
        for (index, span) in calendar.spans.enumerated() {
            if let pause = calendar.spans.pause(before: index) { add(pause.days, none) }
            add(span.days, values.map { countFormatter.chartValue($0[index]) })
        }
        table.rows = rows.map { days, values in
            ["\(DaySpan(days: days, unit: calendar.unit).name)"] + values.map { "\(countFormatter.text($0))" }
        }
        return table.html
    }
}
