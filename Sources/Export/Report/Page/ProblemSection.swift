/// What is wrong: what could not be understood, and what else there is to tell.
extension ReportPage {
    var problemSection: PageSection {
        PageSection(
            id: "wrong", title: "What is wrong",
            lead:
                "What could not be understood is in quarantine: a bundle carries it along, so that nothing is lost. A problem is what somebody should know of.",
            content: [quarantineTable, problemTable, duplicateText])
    }

    private var quarantineTable: HTML {
        table(
            "Could not be understood", tally.quarantine, id: "quarantined",
            none: "Nothing: everything was understood.", meaning: { _ in nil })
    }

    private var problemTable: HTML {
        table("Problems", tally.problems, id: "problems", none: "None.", meaning: CodeMeanings.problem)
    }

    private var duplicateText: HTML {
        """
        <p>Left out because an equal record came before: <b id="duplicates">\(shown.text(facts.duplicates))</b>.</p>
        """
    }

    private func table(
        _ title: String, _ codes: CodeCounts, id: String, none: HTML, meaning: (String) -> String?
    ) -> HTML {
        let head: HTML = "<h3>\(title): <span id=\"\(id)\">\(shown.text(codes.counts.total))</span></h3>"
        guard !codes.counts.isEmpty else { return "\(head)<p>\(none)</p>" }
        var table = HTMLTable(
            title, ["code", .number("how often"), "what it means", "where"])
        for (code, count) in codes.counts.largestFirst {
            let examples = codes.examples[code] ?? []
            let own = examples.first.map { Self.withoutPlace($0.text) }
            let words = meaning(code) ?? own
            let more = count - examples.count
            let rest = HTML.moreItems(more, shown.text(more))
            table.rows.append([
                "<code><bdi>\(code)</bdi></code>", "\(shown.text(count))", .captured(words),
                "<ul class=\"places\">\(examples.map { place($0, besides: words) })\(rest)</ul>",
            ])
        }
        let other = codes.counts.other
        return "\(head)\(table.html)\(.aside(other, "With other codes: \(shown.text(other))."))"
    }

    /// The words of a case as they hold everywhere: `duplicate key` of `duplicate key at byte 665`.
    private static func withoutPlace(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 3, words.suffix(3).prefix(2).elementsEqual(["at", "byte"]) else { return text }
        return words.dropLast(3).joined(separator: " ")
    }

    /// - Parameter words: what is said of the code already.
    private func place(_ example: CodeExample, besides words: String?) -> HTML {
        let offset: HTML = example.offset.map { " at byte \($0)" } ?? ""
        let path: HTML = example.path.isEmpty ? "" : ": <code><bdi>\(example.path)</bdi></code>"
        let text: HTML = example.text == words ? "" : ": <bdi>\(example.text)</bdi>"
        return "<li><bdi>\(example.capture)</bdi>\(path)\(offset)\(text)</li>"
    }
}
