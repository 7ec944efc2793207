/// The section about quarantined input, problems and duplicates.
extension ReportPage {
    var problemSection: PageSection {
        PageSection(
            id: "wrong", title: "Quarantine and problems",
            introduction:
                "Input that could not be parsed is quarantined: a bundle stores it, so that nothing is lost. Problems are other conditions that require attention.",
            content: [quarantineTable, problemTable, duplicateText])
    }

    private var quarantineTable: HTML {
        table(
            "Quarantined input", tally.quarantine, id: "quarantined",
            none: "All input was parsed.", meaning: { _ in nil })
    }

    private var problemTable: HTML {
        table(
            "Problems", tally.problems, id: "problems", none: "There are no problems.",
            meaning: CodeMeanings.problemMeaning(of:))
    }

    private var duplicateText: HTML {
        """
        <p>Records omitted because they equal another record: <b id="duplicates">\(countFormatter.text(facts.duplicateCount))</b>.</p>
        """
    }

    private func table(
        _ title: String, _ codes: CodeCounts, id: String, none: HTML, meaning: (String) -> String?
    ) -> HTML {
        let head: HTML = "<h3>\(title): <span id=\"\(id)\">\(countFormatter.text(codes.counts.total))</span></h3>"
        guard !countFormatter.isHidden(codes.counts.total) else { return head }
        guard !codes.counts.isEmpty else { return "\(head)<p>\(none)</p>" }
        let (shown, otherCount) = countFormatter.shownEntries(codes.counts.largestFirst, limit: .max)
        var columns: [HTMLTable.Column] = ["code", .number("count"), "meaning"]
        if !codes.examples.isEmpty { columns.append("locations") }
        var table = HTMLTable(title, columns)
        for (code, count) in shown {
            let examples = codes.examples[code] ?? []
            let exampleText = examples.first.map { Self.withoutPosition($0.text) }
            let meaningText = meaning(code.string) ?? exampleText
            let more = count - examples.count
            let rest = HTML.moreItems(more, countFormatter.text(more))
            table.rows.append([
                "<code><bdi>\(code.string)</bdi></code>", "\(countFormatter.text(count))", .captured(meaningText),
                "<ul class=\"places\">\(examples.map { listItem(for: $0, besides: meaningText) })\(rest)</ul>",
            ])
        }
        let other = otherCount + codes.counts.otherCount
        let rest = countFormatter.aside(other, "Other codes: \(countFormatter.text(other)).")
        return "\(head)\(shown.isEmpty ? "" : table.html)\(rest)"
    }

    /// Returns a description without its position, such as `duplicate key` for `duplicate key at byte 665`.
    private static func withoutPosition(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 3, words.suffix(3).prefix(2).elementsEqual(["at", "byte"]) else { return text }
        return words.dropLast(3).joined(separator: " ")
    }

    /// Returns a list item with the location of an example.
    ///
    /// The text of the example is omitted if it equals `meaningText`.
    private func listItem(for example: CodeExample, besides meaningText: String?) -> HTML {
        let offset: HTML = example.offset.map { " at byte \($0)" } ?? ""
        let path: HTML = example.path.isEmpty ? "" : ": <code><bdi>\(example.path)</bdi></code>"
        let text: HTML = example.text == meaningText ? "" : ": <bdi>\(example.text)</bdi>"
        return "<li><bdi>\(example.capture)</bdi>\(path)\(offset)\(text)</li>"
    }
}
