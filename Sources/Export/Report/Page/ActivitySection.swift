/// What: events by what they mean, app by app, and searches by engine.
extension ReportPage {
    var activitySection: PageSection {
        PageSection(
            id: "what", title: "What",
            lead:
                "What people did with the apps, by what the documents of the apps call it. An event that no document names has its technical name alone.",
            content: eventTables + [searchTable])
    }

    private static let maxApps = 12
    private static let maxEvents = 40

    private var eventTables: [HTML] {
        let sorted = tally.eventKinds.largestFirst
        guard !sorted.isEmpty else { return ["<p>There are no events.</p>"] }
        var apps = BoundedCounts<String?>(limit: .max)
        for (kind, count) in sorted { apps.add(kind.app, count) }
        let largest = apps.largestFirst
        let tables = largest.prefix(Self.maxApps).map { app, count in
            eventTable(app, count, sorted.filter { $0.key.app == app })
        }
        let more = largest.dropFirst(Self.maxApps).reduce(tally.eventKinds.other) { $0 + $1.count }
        return tables + [.aside(more, "Of others: \(shown.text(more, "event")).")]
    }

    private func eventTable(_ app: String?, _ count: Int, _ kinds: [(key: EventKind, count: Int)]) -> HTML {
        let name = app ?? "an app that is not known"
        var table = HTMLTable(
            "Events of \(name), the most frequent first",
            ["what happened", "technical name", .number("events"), .init(title: .barTitle)])
        let largest = shown.chartValue(kinds.first?.count ?? 0)
        for (kind, count) in kinds.prefix(Self.maxEvents) {
            let label: HTML = kind.label.map { "<bdi>\($0)</bdi>" } ?? "<span class=\"none\">not documented</span>"
            table.rows.append([
                label, kind.name.map { "<code><bdi>\($0)</bdi></code>" } ?? .captured(nil), "\(shown.text(count))",
                Bar(value: shown.chartValue(count), largest: largest).svg,
            ])
        }
        let more = kinds.dropFirst(Self.maxEvents).reduce(0) { $0 + $1.count }
        let rest = HTML.aside(more, "And others: \(shown.text(more, "event")).")
        return "<h3><bdi>\(name)</bdi>: \(shown.text(count, "event"))</h3>\(table.html)\(rest)"
    }

    private var searchTable: HTML {
        let sorted = tally.searches.largestFirst
        guard let largest = sorted.first?.count else { return "" }
        var table = HTMLTable(
            "Searches by engine", ["engine", "begun from", .number("searches"), .init(title: .barTitle)])
        for (kind, count) in sorted.prefix(Self.maxEvents) {
            table.rows.append([
                "<bdi>\(kind.engine)</bdi>", .captured(kind.source), "\(shown.text(count))",
                Bar(value: shown.chartValue(count), largest: shown.chartValue(largest)).svg,
            ])
        }
        let more = sorted.count - Self.maxEvents
        let rest = HTML.aside(more, "And \(more) more kinds.")
        return "<h3>Searches by engine</h3>\(table.html)\(rest)"
    }
}
