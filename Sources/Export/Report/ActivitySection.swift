/// The section about activity: the events of each app, the searches by engine, and the metrics of Glean.
extension ReportPage {
    var activitySection: PageSection {
        get throws {
            PageSection(
                id: "what", title: "Activity",
                introduction:
                    """
                    The events of each app and its searches. The descriptions of events are from the documentation of the apps. The bars \
                    of all apps have the same scale.
                    """,
                content: try eventTables + [try searchTable, try metricTable])
        }
    }

    private static let maxApps = 12
    private static let maxPrintedApps = 5
    private static let maxEvents = 40

    private var eventTables: [HTML] {
        get throws {
            // The number identifies an app in the next query.
            let source = """
                SELECT app, app_system, min(kinds.rowid) AS number, sum(count) AS count, min(place) AS first,
                (SELECT count(DISTINCT client) FROM entries WHERE entries.app IS kinds.app
                AND entries.app_system IS kinds.app_system) AS everyone
                FROM (SELECT rowid, app, app_system, count, row_number() OVER (ORDER BY count DESC, first) AS place FROM kinds) AS kinds
                GROUP BY app, app_system
                """
            let apps = try database.counts(
                of: ["app", "app_system"], in: source, number: "number", everyone: "everyone", limit: Self.maxApps,
                countFormatter)
            guard !countFormatter.isNone(apps.total) else { return [countFormatter.noneText("events")] }
            let kinds = try apps.rows.map { app in
                try database.counts(
                    of: ["name", "label"],
                    in: """
                        SELECT kinds.* FROM kinds JOIN kinds AS one ON one.rowid = \(app.number) AND kinds.app IS one.app
                        AND kinds.app_system IS one.app_system
                        """,
                    everyone: "everyone", limit: Self.maxEvents, countFormatter)
            }
            // The bars of all apps have the same scale.
            let largest = kinds.flatMap(\.rows).map(\.count).max() ?? 0
            let tables = zip(apps.rows, kinds).enumerated().map { index, app in
                let (row, kinds) = app
                let table = eventTable(row.names[0] ?? Self.unknownApp(of: row.names[1]), row.count, kinds, largest)
                return "<div class=\"app\(index < Self.maxPrintedApps ? "" : " screen" as HTML)\">\(table)</div>"
                    as HTML
            }
            return tables + [
                countFormatter.remainder(
                    "Other apps", of: apps.rows.map(\.count), printed: Self.maxPrintedApps, besides: apps.otherCount,
                    "event")
            ]
        }
    }

    /// Returns the name that is shown for the apps of the records of a system that do not name their app.
    static func unknownApp(of system: String?) -> String { "unknown app (\(system ?? "unknown"))" }

    private func eventTable(_ name: String, _ count: Int, _ kinds: ReportCounts, _ largest: Int) -> HTML {
        var table = HTMLTable(
            "Events of \(name), most frequent first", ["description", "technical name", .bars("events")])
        for kind in kinds.rows {
            let label: HTML = kind.names[1].map { "<bdi>\($0)</bdi>" } ?? "<span class=\"none\">not documented</span>"
            table.rows.append([
                label, kind.names[0].map { "<code><bdi>\(name: $0)</bdi></code>" } ?? .captured(nil),
                number(kind.count, largest: largest),
            ])
        }
        let rest = countFormatter.remainder(of: kinds.rows.map(\.count), besides: kinds.otherCount, "event")
        return "<h3><bdi>\(name)</bdi>: \(countFormatter.text(count, "event"))</h3>\(table.html)\(rest)"
    }

    private var searchTable: HTML {
        get throws {
            let minimumCount = countFormatter.hidesSmallCounts ? countFormatter.minimumCount : 0
            // The names of an engine can differ in letter case. The most frequent name that can be shown is used. The number
            // of clients is that of the searches with exactly this name and the same source.
            let source = """
                WITH exact AS (SELECT engine, source, \(ReportDatabase.sum("max(0, coalesce(searches.count, 0))")) AS count,
                min(searches.record << 24 | n) AS first, count(DISTINCT client) AS everyone
                FROM searches \(ReportDatabase.joinEntries("searches")) GROUP BY engine, source),
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
            var table = HTMLTable("Searches by engine", ["engine", "started from", .bars("searches")])
            for row in counts.rows {
                table.rows.append([
                    "<bdi>\(row.names[0] ?? "")</bdi>", .captured(row.names[1]),
                    number(row.count, largest: counts.rows[0].count),
                ])
            }
            let rest = countFormatter.remainder(of: counts.rows.map(\.count), besides: counts.otherCount, "search")
            return "<h3>Searches by engine</h3>\(table.html)\(rest)"
        }
    }

    private var metricTable: HTML {
        get throws {
            // A labeled metric has several rows but is counted once.
            let source = """
                SELECT name, metric_type, max(description) AS description, count(*) AS count, min(metrics.record << 24 | n) AS first,
                count(DISTINCT client) AS clients, count(DISTINCT client) AS everyone
                FROM (SELECT record, name, metric_type, max(description) AS description, min(n) AS n FROM metrics
                WHERE name IS NOT NULL GROUP BY record, name, metric_type) AS metrics
                \(ReportDatabase.joinEntries("metrics")) GROUP BY name, metric_type
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
                ["<code><bdi>\(name: names[0] ?? "")</bdi></code>", "<bdi>\(names[1] ?? "")</bdi>"]
                    + names.dropFirst(2).map { .captured($0) }
            }
        }
    }
}
