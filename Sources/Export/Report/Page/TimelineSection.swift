/// The timeline section: records by day and type, and events by day.
extension ReportPage {
    var timelineSection: PageSection {
        PageSection(
            id: "time", title: "Over time",
            lead:
                "The times at which phones queued records and at which events happened, according to the clocks of the phones.",
            content: [recordTime, eventTime])
    }

    /// The maximum number of record kinds with separate colors.
    private static let maxColors = 6

    private var recordTime: HTML {
        let kinds = tally.kinds.largestFirst.map(\.key)
        let colored = Array(kinds.prefix(Self.maxColors))
        var chart = DayChart(
            id: "records-chart", noun: "record",
            names: colored.map(\.name) + (kinds.count > colored.count ? ["others"] : []),
            shown: shown)
        let numbers = Dictionary(uniqueKeysWithValues: zip(colored, 0...))
        for (key, count) in tally.kindDays.entries {
            chart.add(count, day: key.day, series: numbers[key.kind] ?? colored.count)
        }
        chart.withoutDay = tally.recordsWithoutTime + tally.kindDays.other
        return chart.html
    }

    private var eventTime: HTML {
        var chart = DayChart(id: "events-chart", noun: "event", names: ["events"], shown: shown)
        for (day, count) in tally.eventDays.entries { chart.add(count, day: day, series: 0) }
        chart.withoutDay = tally.eventsWithoutTime + tally.eventDays.other
        return chart.html
    }
}

/// A chart of counts by day, with a table of the same counts.
struct DayChart {
    let id: String
    /// The noun for the counted items, such as `record`.
    let noun: String
    let names: [String]
    let shown: CountFormatter
    /// The number of items without a day.
    var withoutDay = 0
    private var counts: [Int: [Int]] = [:]

    init(id: String, noun: String, names: [String], shown: CountFormatter) {
        self.id = id
        self.noun = noun
        self.names = names
        self.shown = shown
    }

    mutating func add(_ count: Int, day: Int, series: Int) {
        counts[day, default: Array(repeating: 0, count: names.count)][series] += count
    }

    var html: HTML {
        let sums = counts.mapValues { $0.reduce(0, +) }
        guard let calendar = ReportCalendar(sums) else {
            return
                "<h3>\(heading)</h3><p>There are no \(noun)s\(withoutDay > 0 ? " with a time" : "").</p>\(untimedText)"
        }
        var values = names.map { _ in Array(repeating: 0, count: calendar.spans.count) }
        var outside: [Int: Int] = [:]
        for (day, series) in counts {
            guard let place = calendar.index(of: day) else {
                outside[day] = series.reduce(0, +)
                continue
            }
            for (number, count) in series.enumerated() { values[number][place] += count }
        }
        let title = "\(heading), from \(calendar.spans.first?.start ?? "") to \(calendar.spans.last?.name ?? "")"
        let chart = StackedBars(
            title: title, bars: calendar.spans,
            series: zip(names, values).map { StackedBars.Series(name: $0, values: $1) }, format: shown.text,
            barValue: shown.chartValue)
        return """
            <figure><figcaption><h3>\(heading) by \(calendar.unit.rawValue)</h3>\(legend)</figcaption>
            \(chart.svg(id: "\(id)-title"))</figure>
            \(outsideText(outside))\(untimedText)<details><summary>Numbers of this chart</summary>
            \(table(title, calendar, values))</details>

            """
    }

    private var heading: String { noun.prefix(1).uppercased() + noun.dropFirst() + "s" }

    private var legend: HTML {
        guard names.count > 1 else { return "" }
        let items = names.enumerated().map { number, name -> HTML in "<li>\(.key(number)) <bdi>\(name)</bdi></li>" }
        return "<ul class=\"legend\">\(items)</ul>"
    }

    private var untimedText: HTML { .aside(withoutDay, "Without a known time: \(shown.text(withoutDay, noun)).") }

    private func outsideText(_ outside: [Int: Int]) -> HTML {
        guard let first = outside.keys.min(), let last = outside.keys.max() else { return "" }
        let span = DaySpan(days: first..<last + 1)
        return """
            <p class="aside">Not shown: \(shown.text(outside.values.reduce(0, +), noun)) from \(span.name), more than a year away from the \
            others. The clock of a phone may have been wrong.</p>
            """
    }

    private func table(_ title: String, _ calendar: ReportCalendar, _ values: [[Int]]) -> HTML {
        let unit: HTML = "\(calendar.unit.rawValue)"
        var table = HTMLTable(title, [.init(title: unit)] + names.map { HTMLTable.Column.number("<bdi>\($0)</bdi>") })
        var place = 0
        while place < calendar.spans.count {
            let numbers = values.map { $0[place] }
            guard numbers.allSatisfy({ $0 == 0 }) else {
                table.rows.append(["\(calendar.spans[place].name)"] + numbers.map { "\(shown.text($0))" })
                place += 1
                continue
            }
            let start = calendar.spans[place].days.lowerBound
            var end = start
            while place < calendar.spans.count, values.allSatisfy({ $0[place] == 0 }) {
                end = calendar.spans[place].days.upperBound
                place += 1
            }
            table.rows.append(["\(DaySpan(days: start..<end).name): none"] + names.map { _ in "0" })
        }
        return table.html
    }
}
