/// The section about activity: the events of each app and the searches by engine.
extension ReportPage {
    var activitySection: PageSection {
        PageSection(
            id: "what", title: "Activity",
            introduction:
                "The events of each app and its searches. The descriptions of events are from the documentation of the apps.",
            content: eventTables + [searchTable])
    }

    private static let maxApps = 12
    private static let maxEvents = 40

    private var eventTables: [HTML] {
        let sorted = tally.eventsByKind.largestFirst
        guard !sorted.isEmpty else { return ["<p>There are no events.</p>"] }
        var apps = BoundedCounts<String?>(keyLimit: .max)
        for (kind, count) in sorted { apps.add(kind.app, count) }
        let largest = apps.largestFirst
        let tables = largest.prefix(Self.maxApps).map { app, count in
            eventTable(app, count, sorted.filter { $0.key.app == app })
        }
        let more = largest.dropFirst(Self.maxApps).reduce(tally.eventsByKind.otherCount) { $0 + $1.count }
        return tables + [.aside(more, "Other apps: \(countFormatter.text(more, "event")).")]
    }

    private func eventTable(_ app: String?, _ count: Int, _ kinds: [(key: EventKind, count: Int)]) -> HTML {
        let name = app ?? "an unknown app"
        var table = HTMLTable(
            "Events of \(name), most frequent first",
            ["description", "technical name", .number("events"), .init(title: .barTitle)])
        let largest = countFormatter.chartValue(kinds.first?.count ?? 0)
        for (kind, count) in kinds.prefix(Self.maxEvents) {
            let label: HTML = kind.label.map { "<bdi>\($0)</bdi>" } ?? "<span class=\"none\">not documented</span>"
            table.rows.append([
                label, kind.name.map { "<code><bdi>\($0)</bdi></code>" } ?? .captured(nil),
                "\(countFormatter.text(count))",
                Bar(value: countFormatter.chartValue(count), maxValue: largest).svg,
            ])
        }
        let more = kinds.dropFirst(Self.maxEvents).reduce(0) { $0 + $1.count }
        let rest = HTML.aside(more, "Not shown: \(countFormatter.text(more, "event")).")
        return "<h3><bdi>\(name)</bdi>: \(countFormatter.text(count, "event"))</h3>\(table.html)\(rest)"
    }

    private var searchTable: HTML {
        let sorted = tally.searchesByKind.largestFirst
        guard let largest = sorted.first?.count else { return "" }
        var table = HTMLTable(
            "Searches by engine", ["engine", "started from", .number("searches"), .init(title: .barTitle)])
        for (kind, count) in sorted.prefix(Self.maxEvents) {
            table.rows.append([
                "<bdi>\(kind.engine)</bdi>", .captured(kind.source), "\(countFormatter.text(count))",
                Bar(value: countFormatter.chartValue(count), maxValue: countFormatter.chartValue(largest)).svg,
            ])
        }
        let more = sorted.count - Self.maxEvents
        let rest = HTML.aside(more, "Not shown: \(more) more.")
        return "<h3>Searches by engine</h3>\(table.html)\(rest)"
    }
}
