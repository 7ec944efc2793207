/// The section about quarantined input, problems and duplicates.
extension ReportPage {
    var problemSection: PageSection {
        PageSection(
            id: "wrong", title: "Quarantine and problems",
            lead:
                "Input that could not be parsed is quarantined: a bundle stores it, so that nothing is lost. Problems are other conditions that require attention.",
            content: [quarantineTable, problemTable, duplicateText])
    }

    private var quarantineTable: HTML {
        table(
            "Quarantined input", tally.quarantine, id: "quarantined",
            none: "All input was parsed.", meaning: { _ in nil })
    }

    private var problemTable: HTML {
        table("Problems", tally.problems, id: "problems", none: "There are no problems.", meaning: CodeMeanings.problem)
    }

    private var duplicateText: HTML {
        """
        <p>Records omitted because they equal another record: <b id="duplicates">\(shown.text(facts.duplicates))</b>.</p>
        """
    }

    private func table(
        _ title: String, _ codes: CodeCounts, id: String, none: HTML, meaning: (String) -> String?
    ) -> HTML {
        let head: HTML = "<h3>\(title): <span id=\"\(id)\">\(shown.text(codes.counts.total))</span></h3>"
        guard !codes.counts.isEmpty else { return "\(head)<p>\(none)</p>" }
        var table = HTMLTable(title, ["code", .number("count"), "meaning", "locations"])
        for (code, count) in codes.counts.largestFirst {
            let examples = codes.examples[code] ?? []
            let own = examples.first.map { Self.withoutPosition($0.text) }
            let words = meaning(code) ?? own
            let more = count - examples.count
            let rest = HTML.moreItems(more, shown.text(more))
            table.rows.append([
                "<code><bdi>\(code)</bdi></code>", "\(shown.text(count))", .captured(words),
                "<ul class=\"places\">\(examples.map { listItem(for: $0, besides: words) })\(rest)</ul>",
            ])
        }
        let other = codes.counts.other
        return "\(head)\(table.html)\(.aside(other, "Other codes: \(shown.text(other))."))"
    }

    /// Returns a description without its position: `duplicate key` for `duplicate key at byte 665`.
    private static func withoutPosition(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 3, words.suffix(3).prefix(2).elementsEqual(["at", "byte"]) else { return text }
        return words.dropLast(3).joined(separator: " ")
    }

    /// Returns a list item with the location of an example.
    ///
    /// The text of the example is omitted if it equals `words`.
    private func listItem(for example: CodeExample, besides words: String?) -> HTML {
        let offset: HTML = example.offset.map { " at byte \($0)" } ?? ""
        let path: HTML = example.path.isEmpty ? "" : ": <code><bdi>\(example.path)</bdi></code>"
        let text: HTML = example.text == words ? "" : ": <bdi>\(example.text)</bdi>"
        return "<li><bdi>\(example.capture)</bdi>\(path)\(offset)\(text)</li>"
    }
}
