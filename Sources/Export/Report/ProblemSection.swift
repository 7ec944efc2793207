import Telemetry

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
        return "\(head)\(table.html)\(rest)"
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

/// Explanations of hold codes and problem codes for readers of a report.
enum CodeMeanings {
    /// Returns the meaning of a hold code, and whether the hold is final.
    ///
    /// The operator cannot release records with a final hold. The second value is `nil` if the code is unknown.
    static func holdMeaning(of code: String, in holdCodes: [HoldCode]) -> (meaning: String, isFinal: Bool?) {
        guard let hold = holdCodes.first(where: { $0.code == code }) else {
            return ("The reason is unknown to this version of the program.", nil)
        }
        return (hold.meaning.prefix(1).uppercased() + hold.meaning.dropFirst() + ".", hold.isFinal)
    }

    /// Returns the meaning of a problem code, or `nil` if the descriptions of the problems are sufficient.
    fileprivate static func problemMeaning(of code: String) -> String? { problemMeanings[code] }

    private static let problemMeanings = [
        "changed": "A file changed while it was read. Make the capture again.",
        "damaged": "An archive or a bundle is damaged. The data before the damage was read.",
        "extension-events": "The phone has stored events that are not part of a ping yet. They are not in any record.",
        "link": "A symbolic link was found in place of a store. It was not followed.",
        "nested": "An archive contains another archive. Unpack the outer archive to read the inner one.",
        "pending-counters": "The phone has counted something that is not part of a ping yet.",
        "quarantine-limit":
            "The quarantine has reached its limit. Further input is listed, but its bytes are not stored.",
        "schema-objects": "A database contains additional tables. They were not read.",
        "special": "A special file was found in place of a store. It was not read.",
        "unreadable": "A file or a folder could not be read.",
    ]
}
