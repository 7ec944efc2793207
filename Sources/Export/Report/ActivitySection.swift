/// The section about activity: the events of each app, the searches by engine, and the metrics of Glean.
extension ReportPage {
    var activitySection: PageSection {
        get throws {
            PageSection(
                id: "what", title: "Activity",
                introduction:
                    "The events of each app and its searches. The descriptions of events are from the documentation of the apps.",
                content: try eventTables + [try searchTable, try metricTable])
        }
    }

    private static let maxApps = 12
    private static let maxEvents = 40

    private var eventTables: [HTML] {
        get throws {
            // The number identifies an app in the next query.
            let source = """
                SELECT app, min(kinds.rowid) AS number, sum(count) AS count, min(place) AS first,
                (SELECT count(DISTINCT client) FROM entries WHERE entries.app IS kinds.app) AS everyone
                FROM (SELECT rowid, app, count, row_number() OVER (ORDER BY count DESC, first) AS place FROM kinds) AS kinds
                GROUP BY app
                """
            let apps = try database.counts(
                of: ["app"], in: source, number: "number", everyone: "everyone", limit: Self.maxApps, countFormatter)
            guard !countFormatter.isNone(apps.total) else { return [countFormatter.noneText("events")] }
            let kinds = try apps.rows.map { app in
                try database.counts(
                    of: ["name", "label"],
                    in: "SELECT * FROM kinds WHERE app IS (SELECT app FROM kinds WHERE rowid = \(app.number))",
                    everyone: "everyone", limit: Self.maxEvents, countFormatter)
            }
            // The bars of all apps have the same scale.
            let largest = kinds.flatMap(\.rows).map(\.count).max() ?? 0
            let tables = zip(apps.rows, kinds).map {
                eventTable($0.names[0] ?? "an unknown app", $0.count, $1, largest)
            }
            let more = countFormatter.text(apps.otherCount, "event")
            return tables + [countFormatter.aside(apps.otherCount, "Other apps: \(more).")]
        }
    }

    private func eventTable(_ name: String, _ count: Int, _ kinds: ReportCounts, _ largest: Int) -> HTML {
        var table = HTMLTable(
            "Events of \(name), most frequent first",
            ["description", "technical name", .number("events"), .init(title: .barTitle)])
        for kind in kinds.rows {
            let label: HTML = kind.names[1].map { "<bdi>\($0)</bdi>" } ?? "<span class=\"none\">not documented</span>"
            table.rows.append([
                label, kind.names[0].map { "<code><bdi>\($0)</bdi></code>" } ?? .captured(nil),
                "\(countFormatter.text(kind.count))", bar(kind.count, largest: largest),
            ])
        }
        let rest = countFormatter.aside(
            kinds.otherCount, "Not shown: \(countFormatter.text(kinds.otherCount, "event")).")
        let heading: HTML = "<h3><bdi>\(name)</bdi>: \(countFormatter.text(count, "event"))</h3>"
        return "<div class=\"app\">\(heading)\(table.html)\(rest)</div>"
    }

    private var searchTable: HTML {
        get throws {
            let minimumCount = countFormatter.hidesSmallCounts ? countFormatter.minimumCount : 0
            // The names of an engine can differ in letter case. The most frequent name that can be shown is used. The number
            // of clients is that of the searches with exactly this name and the same source.
            let source = """
                WITH exact AS (SELECT engine, source, \(ReportDatabase.sum("max(0, coalesce(count, 0))")) AS count,
                min(record << 24 | n) AS first, count(DISTINCT client) AS everyone
                FROM searches JOIN entries USING (record) GROUP BY engine, source),
                named AS (SELECT *, row_number() OVER (ORDER BY count DESC, first) AS place,
                first_value(engine) OVER (PARTITION BY lower(engine) ORDER BY min(count, everyone) < \(minimumCount),
                count / \(countFormatter.minimumCount) DESC, \(countFormatter.hidesSmallCounts ? "engine, source" : "first"))
                AS name FROM exact)
                SELECT name, source, \(ReportDatabase.sum("count")) AS count, min(place) AS first,
                total(CASE WHEN engine = name THEN everyone END) AS everyone FROM named GROUP BY name, source
                """
            let counts = try database.counts(
                of: ["name", "source"], in: source, everyone: "everyone", limit: Self.maxEvents, countFormatter)
            guard !countFormatter.isNone(counts.total) else { return "" }
            var table = HTMLTable(
                "Searches by engine", ["engine", "started from", .number("searches"), .init(title: .barTitle)])
            for row in counts.rows {
                table.rows.append([
                    "<bdi>\(row.names[0] ?? "")</bdi>", .captured(row.names[1]), "\(countFormatter.text(row.count))",
                    bar(row.count, largest: counts.rows[0].count),
                ])
            }
            let more = counts.otherCount
            let rest = countFormatter.aside(more, "Not shown: \(countFormatter.text(more)) searches.")
            return "<h3>Searches by engine</h3>\(table.html)\(rest)"
        }
    }

    private var metricTable: HTML {
        get throws {
            // A labeled metric has several rows but is counted once.
            let source = """
                SELECT name, metric_type, max(description) AS description, count(*) AS count, min(record << 24 | n) AS first,
                count(DISTINCT client) AS clients, count(DISTINCT client) AS everyone
                FROM (SELECT record, name, metric_type, max(description) AS description, min(n) AS n FROM metrics
                WHERE name IS NOT NULL GROUP BY record, name, metric_type) JOIN entries USING (record)
                GROUP BY name, metric_type
                """
            let totals = try database.numbers(
                "SELECT \(ReportDatabase.sum("count")), count(description) FROM (\(source))", count: 2)
            guard !countFormatter.isNone(totals[0]) else { return "" }
            // Without definitions, no metric has a description.
            let isDescribed = totals[1] > 0
            return try countTable(
                "Metrics in pings", ["metric", "type"] + (isDescribed ? ["description"] : []),
                of: ["name", "metric_type"] + (isDescribed ? ["description"] : []), in: source, noun: "ping"
            ) { names in
                ["<code><bdi>\(names[0] ?? "")</bdi></code>", "<bdi>\(names[1] ?? "")</bdi>"]
                    + names.dropFirst(2).map { .captured($0) }
            }
        }
    }
}
