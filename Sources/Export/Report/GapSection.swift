/// The section about gaps in the sequence numbers of records.
extension ReportPage {
    var gapSection: PageSection {
        PageSection(
            id: "gaps", title: "Gaps",
            introduction: """
                Some systems number the uploads of each client and type. A missing number is an upload that was lost, or that the \
                phone sent itself.
                """,
            content: [gapText, gapTable])
    }

    private var gapText: HTML {
        let gaps = tally.gaps
        guard countFormatter.hidesSmallCounts || gaps.gapCount + gaps.repeatedCount + gaps.restartCount > 0 else {
            return "<p id=\"no-gaps\">No numbers are missing or repeated.</p>"
        }
        // If the number of gaps is hidden, the number of missing numbers is hidden, too, because few gaps belong to few
        // clients.
        let missingCount = countFormatter.isHidden(gaps.gapCount) ? 0 : gaps.missingCount
        return """
            <ul><li><b id="missing">\(countFormatter.text(missingCount))</b> missing numbers in \
            \(countFormatter.text(gaps.gapCount, "gap"))</li>\
            <li><b id="repeated">\(countFormatter.text(gaps.repeatedCount))</b> records with the number of another record</li>\
            <li><b id="restarts">\(countFormatter.text(gaps.restartCount))</b> restarts, for example because an app was installed \
            again</li></ul>
            """
    }

    private var gapTable: HTML {
        let gaps = tally.gaps.largest.values
        guard !countFormatter.hidesSmallCounts else {
            return "<p class=\"aside\">Gaps are not listed, because each belongs to a single client.</p>"
        }
        guard !gaps.isEmpty else { return "" }
        var table = HTMLTable(
            "Gaps, most missing numbers first",
            ["client", "system", "type", .number("missing"), "numbers", "time before", "time after"])
        for gap in gaps {
            table.rows.append([
                .clientName(gap.client), "\(gap.system)", .captured(gap.type), "\(countFormatter.text(gap.count))",
                gap.first == gap.last ? "\(gap.first)" : "\(gap.first)–\(gap.last)", Self.timeText(gap.timeBefore),
                Self.timeText(gap.timeAfter),
            ])
        }
        let more = tally.gaps.gapCount - gaps.count
        return "\(table.html)\(countFormatter.aside(more, "Not shown: \(countFormatter.text(more, "gap"))."))"
    }

    /// Returns a time without its seconds, or `unknown` if `time` is `nil`.
    private static func timeText(_ time: String?) -> HTML {
        guard let time else { return .captured(nil) }
        let minutes = time.prefix(16).map { $0 == "T" ? " " : $0 }
        return "<span class=\"day\">\(String(minutes))</span>"
    }
}
