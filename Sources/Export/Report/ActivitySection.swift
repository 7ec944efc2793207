import Bytes

/// The section about activity: the events of each app, the searches by engine, and the metrics of Glean.
extension ReportPage {
    var activitySection: PageSection {
        PageSection(
            id: "what", title: "Activity",
            introduction:
                "The events of each app and its searches. The descriptions of events are from the documentation of the apps.",
            content: eventTables + [searchTable, metricTable])
    }

    private static let maxApps = 12
    private static let maxEvents = 40

    private var eventTables: [HTML] {
        let sorted = tally.eventsByKind.largestFirst
        guard !countFormatter.isNone(tally.eventsByKind.total) else { return [countFormatter.noneText("events")] }
        let clients = tally.profiles.clientCounts(\.values.events.elements)
        var apps = BoundedCounts<CapturedText?>(keyLimit: .max)
        for (kind, count) in sorted { apps.add(kind.app.map { CapturedText($0) }, count) }
        let clientsByApp = clientsByApp
        let (shown, otherCount) = countFormatter.shownEntries(apps.largestFirst, limit: Self.maxApps) {
            clientsByApp[$0] ?? 0
        }
        let kinds = shown.map { app, _ in
            countFormatter.shownEntries(
                sorted.filter { $0.key.app.map { CapturedText($0) } == app }, limit: Self.maxEvents
            ) { kind in
                tally.eventsByKind.index(of: kind).flatMap { clients[$0] } ?? 0
            }
        }
        // The bars of all apps have the same scale.
        let largest = kinds.flatMap(\.shown).map(\.count).max() ?? 0
        let tables = zip(shown, kinds).map {
            eventTable($0.key?.string, $0.count, $1.shown, $1.otherCount, largest: largest)
        }
        let more = otherCount + tally.eventsByKind.otherCount
        return tables + [countFormatter.aside(more, "Other apps: \(countFormatter.text(more, "event")).")]
    }

    /// The number of clients of each app.
    private var clientsByApp: [CapturedText?: Int] {
        var counts: [CapturedText?: Int] = [:]
        for client in tally.profiles.clients {
            let names = Set(
                client.values.apps.elements.map { tally.recordsByApp.entries[$0].key.name.map { CapturedText($0) } })
            for name in names { counts[name, default: 0] += 1 }
        }
        return counts
    }

    private func eventTable(
        _ app: String?, _ count: Int, _ shown: [(key: EventKind, count: Int)], _ more: Int, largest: Int
    ) -> HTML {
        let name = app ?? "an unknown app"
        var table = HTMLTable(
            "Events of \(name), most frequent first",
            ["description", "technical name", .number("events"), .init(title: .barTitle)])
        for (kind, count) in shown {
            let label: HTML = kind.label.map { "<bdi>\($0)</bdi>" } ?? "<span class=\"none\">not documented</span>"
            table.rows.append([
                label, kind.name.map { "<code><bdi>\($0)</bdi></code>" } ?? .captured(nil),
                "\(countFormatter.text(count))",
                bar(count, largest: largest),
            ])
        }
        let rest = countFormatter.aside(more, "Not shown: \(countFormatter.text(more, "event")).")
        let heading: HTML = "<h3><bdi>\(name)</bdi>: \(countFormatter.text(count, "event"))</h3>"
        return "<div class=\"app\">\(heading)\(table.html)\(rest)</div>"
    }

    private var searchTable: HTML {
        let clients = tally.profiles.clientCounts(\.values.searches.elements)
        // Returns the number of clients with searches that have exactly this engine name and source.
        func clientCount(_ kind: SearchKind) -> Int {
            tally.searchesByKind.index(of: kind).flatMap { clients[$0] } ?? 0
        }
        let kinds = countFormatter.shownEntries(
            tally.searchesByKind.largestFirst, limit: .max, clientCount: clientCount)
        // The names of an engine can differ in letter case. The most frequent name that can be shown is used.
        var names: [CapturedText: String] = [:]
        for (kind, _) in kinds.shown where names[kind.caselessEngine] == nil {
            names[kind.caselessEngine] = kind.engine
        }
        var counts = BoundedCounts<SearchKind>(keyLimit: .max)
        for (kind, count) in tally.searchesByKind.largestFirst {
            let name = names[kind.caselessEngine, default: kind.engine]
            names[kind.caselessEngine] = name
            counts.add(SearchKind(engine: name, source: kind.source), count)
        }
        guard !countFormatter.isNone(counts.total) else { return "" }
        let (shown, otherCount) = countFormatter.shownEntries(
            counts.largestFirst, limit: Self.maxEvents, clientCount: clientCount)
        var table = HTMLTable(
            "Searches by engine", ["engine", "started from", .number("searches"), .init(title: .barTitle)])
        for (kind, count) in shown {
            table.rows.append([
                "<bdi>\(kind.engine)</bdi>", .captured(kind.source), "\(countFormatter.text(count))",
                bar(count, largest: shown[0].count),
            ])
        }
        let more = otherCount.addingSaturated(tally.searchesByKind.otherCount)
        let rest = countFormatter.aside(more, "Not shown: \(countFormatter.text(more)) searches.")
        return "<h3>Searches by engine</h3>\(table.html)\(rest)"
    }

    private var metricTable: HTML {
        guard !countFormatter.isNone(tally.pingsByMetric.total) else { return "" }
        return countTable(
            "Metrics in pings", ["metric", "type"], tally.pingsByMetric, noun: "ping",
            clients: tally.profiles.clientCounts(\.metrics.elements),
            cells: { ["<code><bdi>\($0.name)</bdi></code>", "<bdi>\($0.type)</bdi>"] })
    }
}
