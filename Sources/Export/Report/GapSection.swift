import SQLite

/// The section about gaps in the sequence numbers of records.
extension ReportPage {
    var gapSection: PageSection {
        get throws {
            let query = """
                SELECT total(reason = 'missing'), \(ReportDatabase.sum("count * (reason = 'missing')")),
                \(ReportDatabase.sum("count * (reason = 'repeated')")), total(reason = 'restart') FROM gaps
                """
            let numbers = try database.numbers(query, count: 4)
            return PageSection(
                id: "gaps", title: "Gaps",
                introduction: """
                    Some systems number the uploads of each client and type. A missing number is an upload that was lost, or that the \
                    phone sent itself.
                    """,
                content: [
                    gapText(gaps: numbers[0], missing: numbers[1], repeated: numbers[2], restarts: numbers[3]),
                    try gapTable(gapCount: numbers[0]),
                ])
        }
    }

    private func gapText(gaps: Int, missing: Int, repeated: Int, restarts: Int) -> HTML {
        guard countFormatter.hidesSmallCounts || gaps + repeated + restarts > 0 else {
            return "<p id=\"no-gaps\">No numbers are missing or repeated.</p>"
        }
        // If the number of gaps is hidden, the number of missing numbers is hidden, too, because few gaps belong to few
        // clients.
        let missing = countFormatter.isHidden(gaps) ? 0 : missing
        return """
            <ul><li><b id="missing">\(countFormatter.text(missing))</b> missing numbers in \
            \(countFormatter.text(gaps, "gap"))</li>\
            <li><b id="repeated">\(countFormatter.text(repeated))</b> records with the number of another record</li>\
            <li><b id="restarts">\(countFormatter.text(restarts))</b> restarts, for example because an app was installed \
            again</li></ul>
            """
    }

    /// The maximum number of gaps with separate rows.
    private static let maxGaps = 40

    private func gapTable(gapCount: Int) throws -> HTML {
        guard !countFormatter.hidesSmallCounts else {
            return "<p class=\"aside\">Gaps are not listed, because each belongs to a single client.</p>"
        }
        var table = HTMLTable(
            "Gaps, most missing numbers first",
            ["client", "system", "type", .number("missing"), "numbers", "time before", "time after"])
        let query = """
            SELECT client, system, type, count, first_number, last_number, time_before, time_after FROM gaps WHERE reason = 'missing'
            ORDER BY count DESC, n LIMIT \(Self.maxGaps)
            """
        try database.forEachRow(of: query) { row in
            let (count, first, last): (Int64, Int64, Int64) = (row[3], row[4], row[5])
            table.rows.append([
                .clientName(row.displayText(0)), "\(row[1] as String)", .captured(row.displayText(2)),
                "\(countFormatter.text(Int(count)))", first == last ? "\(Int(first))" : "\(Int(first))–\(Int(last))",
                Self.timeText(row[6]), Self.timeText(row[7]),
            ])
        }
        guard !table.rows.isEmpty else { return "" }
        let rest = countFormatter.remainder(
            of: table.rows.map { _ in 1 }, besides: gapCount - table.rows.count, "gap")
        return "\(table.html)\(rest)"
    }

    /// Returns a time without its seconds, or `unknown` if `time` is `nil`.
    private static func timeText(_ time: String?) -> HTML {
        guard let time else { return .captured(nil) }
        let minutes = time.prefix(16).map { $0 == "T" ? " " : $0 }
        return "<span class=\"day\">\(String(minutes))</span>"
    }
}
