import SQLite

/// The section about clients: their apps, versions and phones.
extension ReportPage {
    var clientSection: PageSection {
        get throws {
            PageSection(
                id: "who", title: "Clients and phones",
                introduction:
                    """
                    A client is one app on one phone, identified by a random number. The tables count each client once, for its latest app, \
                    phone and locale.
                    """,
                content: [
                    try clientTable,
                    try valueTable(
                        "Apps and versions", ["app", "version"], of: ["app", "version", "app_system"],
                        latest: "latest_apps"
                    ) { names in
                        [
                            names[0].map(HTML.captured)
                                ?? "<span class=\"none\">\(Self.unknownApp(of: names[2]))</span>",
                            .captured(names[1]),
                        ]
                    },
                    try valueTable(
                        "Phones", ["model", "operating system"], of: ["device", "os", "os_version"],
                        latest: "latest_phones"
                    ) { [.captured($0[0]), .captured(Self.joined($0[1], $0[2]))] },
                    try valueTable("Locales", ["locale"], of: ["locale"], latest: "latest_locales") {
                        [.captured($0[0])]
                    },
                ])
        }
    }

    /// The maximum number of rows of a table of clients or counts.
    private static let maxRows = 100

    private var clientTable: HTML {
        get throws {
            guard !countFormatter.hidesSmallCounts else {
                return "<h3>Clients</h3><p class=\"aside\">Single clients are not listed.</p>"
            }
            var table = HTMLTable(
                "Clients, most records first",
                [
                    "client", "app", "phone", "system", "first", "last", .number("records"), .number("uploadable"),
                    .number("events"),
                ])
            var others = [totals.recordCount, totals.uploadableCount, totals.eventCount]
            var recordCounts: [Int] = []
            func numbers(_ counts: [Int]) -> [HTML] { counts.map { "\(countFormatter.text($0))" } }
            let query = """
                WITH largest AS MATERIALIZED (SELECT * FROM clients ORDER BY records DESC, n LIMIT \(Self.maxRows))
                SELECT largest.client, coalesce(app_name, app_id), a.app, a.version, p.device, p.os, p.os_version,
                largest.system, first, last, records, largest.uploadable, events FROM largest
                JOIN latest_apps AS app ON app.owner = n JOIN entries AS a ON a.record = app.record
                JOIN latest_phones AS phone ON phone.owner = n JOIN entries AS p ON p.record = phone.record
                ORDER BY records DESC, n
                """
            try database.forEachRow(of: query) { row in
                let names = row.displayText(1) ?? row.displayText(2)
                // If a client has several apps, it is unknown which of them has the version.
                let version = names?.contains(", ") == true ? nil : row.displayText(3)
                let counts = [10, 11, 12].map { row[$0] as Int }
                table.rows.append(
                    [
                        .clientName(row.displayText(0)),
                        .captured(Self.joined(names ?? version.map { _ in "unknown" }, version)),
                        .captured(Self.joined(row.displayText(4), row.displayText(5), row.displayText(6))),
                        "\(row[7] as String)", Self.dayText(row[8]), Self.dayText(row[9]),
                    ] + numbers(counts))
                others = zip(others, counts).map { $0 - $1 }
                recordCounts.append(counts[0])
            }
            guard !table.rows.isEmpty else { return "<h3>Clients</h3>\(countFormatter.noneText("clients"))" }
            if others[0] > 0 {
                table.rows.append(["other clients", "", "", "", "", ""] + numbers(others))
                recordCounts.append(others[0])
            }
            let rest = countFormatter.remainder(of: recordCounts, besides: 0, "record")
            return "<h3>Clients</h3>\(table.html)\(rest)"
        }
    }

    /// Returns a table of the values that records have in `columns`, unless all of these are NULL.
    ///
    /// A client is counted for its value in its record in the table `latest`.
    private func valueTable(
        _ caption: String, _ titles: [HTML], of columns: [String], latest: String, cells: ([String?]) -> [HTML]
    ) throws -> HTML {
        let names = columns.joined(separator: ", ")
        // Records of an unknown app are shown as such.
        let condition = columns[0] == "app" ? "" : "WHERE coalesce(\(names), NULL) IS NOT NULL"
        let source = """
            SELECT \(names), sum(count) AS count, min(record) AS first, count(DISTINCT client) AS everyone,
            count(CASE WHEN record IN (SELECT record FROM \(latest)) THEN client END) AS clients FROM entries \(condition) GROUP BY \(names)
            """
        return try countTable(caption, titles, of: columns, in: source, noun: "record", cells: cells)
    }

    /// Returns a table with a row for each value, which contains the count with a bar, and the number of clients.
    ///
    /// `source` is a query as for ``ReportDatabase``, with the number of clients to display in the column `clients`, and the
    /// number of all clients that ever had the value in the column `everyone`.
    func countTable(
        _ caption: String, _ titles: [HTML], of names: [String], in source: String, noun: String,
        cells: ([String?]) -> [HTML]
    ) throws -> HTML {
        let counts = try database.counts(
            of: names, in: source, number: "clients", everyone: "everyone", limit: Self.maxRows, countFormatter)
        guard !countFormatter.isNone(counts.total) else {
            return "<h3>\(caption)</h3>\(countFormatter.noneText("\(noun)s with this information"))"
        }
        var table = HTMLTable(
            caption,
            titles.map { .init(title: $0) } + [.bars("\(noun)s"), .number("clients")])
        for row in counts.rows {
            table.rows.append(
                cells(row.names) + [
                    number(row.count, largest: counts.rows[0].count), "\(countFormatter.text(row.number))",
                ])
        }
        let rest = countFormatter.remainder(of: counts.rows.map(\.count), besides: counts.otherCount, noun)
        return "<h3>\(caption)</h3>\(table.html)\(rest)"
    }

    /// Returns `count` with a bar, in proportion to `largest`, the largest count in the table.
    func number(_ count: Int, largest: Int) -> HTML {
        let bar = Bar(value: countFormatter.chartValue(count), maxValue: countFormatter.chartValue(largest))
        return "\(countFormatter.text(count))\(bar.svg)"
    }

    private static func joined(_ parts: String?...) -> String? {
        let known = parts.compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: " ")
    }

    private static func dayText(_ time: String?) -> HTML {
        time.map { "<span class=\"day\">\(String($0.prefix(10)))</span>" } ?? .captured(nil)
    }
}
