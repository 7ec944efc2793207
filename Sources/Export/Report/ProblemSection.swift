import Bytes
import SQLite
import Telemetry

/// The section about quarantined input, problems and duplicates.
extension ReportPage {
    var problemSection: PageSection {
        get throws {
            PageSection(
                id: "wrong", title: "Quarantine and problems",
                introduction:
                    "Input that could not be parsed is quarantined: a bundle stores it, so that nothing is lost. Problems are other conditions that require attention.",
                content: [
                    // The reason starts with the code.
                    try table(
                        "Quarantined input", in: "quarantine", text: "substr(reason, length(code) + 2)",
                        id: "quarantined", none: "All input was parsed.", meaning: { _ in nil }),
                    try table(
                        "Problems", in: "problems", text: "text", id: "problems", none: "There are no problems.",
                        meaning: CodeMeanings.problemMeaning(of:)),
                    duplicateText,
                ])
        }
    }

    private var duplicateText: HTML {
        """
        <p>Records omitted because they equal another record: <b id="duplicates">\(countFormatter.text(facts.duplicateCount))</b>.</p>
        """
    }

    /// Whether places in the input are not shown, because they contain names, or because each belongs to a single phone.
    private var hidesPlaces: Bool { facts.pseudonymizedFacts != nil || countFormatter.hidesSmallCounts }

    /// The maximum number of codes with separate rows.
    private static let maxCodes = 300
    /// The maximum number of locations for a code.
    private static let maxExamples = 5
    private static let maxPrintedExamples = 2

    private func table(
        _ title: String, in name: String, text: String, id: String, none: HTML, meaning: (String) -> String?
    ) throws -> HTML {
        // The order of the places is hidden, too.
        let first = hidesPlaces ? "0" : "min(n)"
        let codes = try database.counts(
            of: ["code"], in: "SELECT code, count(*) AS count, \(first) AS first FROM \(name) GROUP BY code",
            limit: Self.maxCodes, countFormatter)
        let head: HTML = "<h3>\(title): <span id=\"\(id)\">\(countFormatter.text(codes.total))</span></h3>"
        guard !countFormatter.isHidden(codes.total) else { return head }
        guard codes.total > 0 else { return "\(head)<p>\(none)</p>" }
        let examples = try examples(in: name, text: text)
        var columns: [HTMLTable.Column] = ["code", .number("count"), "meaning"]
        if !hidesPlaces { columns.append("locations") }
        var table = HTMLTable(title, columns)
        for row in codes.rows {
            let code = row.names[0] ?? ""
            let examples = examples[code] ?? []
            let meaningText = meaning(code) ?? examples.first.map { Self.withoutPosition($0.text) }
            let items = examples.enumerated().map { index, example in
                listItem(for: example, besides: meaningText, on: index < Self.maxPrintedExamples ? nil : .screen)
            }
            let media = [(HTML.Medium.screen, examples.count), (.paper, min(examples.count, Self.maxPrintedExamples))]
            let rest = media.map { medium, count in
                HTML.moreItems(row.count - count, countFormatter.text(row.count - count), on: medium)
            }
            table.rows.append([
                "<code><bdi>\(code)</bdi></code>", "\(countFormatter.text(row.count))", .captured(meaningText),
                "<ul class=\"places\">\(items)\(rest)</ul>",
            ])
        }
        let rest = countFormatter.remainder(
            "Other codes", of: codes.rows.map(\.count), besides: codes.otherCount, "item")
        return "\(head)\(table.html)\(rest)"
    }

    /// The location and the description of an item, as an example of the code of the item.
    private struct Example {
        let capture: String
        let path: String
        let offset: Int?
        /// The description of the item.
        let text: String
    }

    private func examples(in table: String, text: String) throws -> [CapturedText: [Example]] {
        guard !hidesPlaces else { return [:] }
        let query = """
            SELECT code, capture, path, offset, text FROM (SELECT code, capture, path, offset, \(text) AS text, n,
            row_number() OVER (PARTITION BY code ORDER BY n) AS place FROM \(table))
            WHERE place <= \(Self.maxExamples) ORDER BY n
            """
        var examples: [CapturedText: [Example]] = [:]
        try database.forEachRow(of: query) { row in
            let offset: Int64? = row[3]
            let example = Example(
                capture: row.displayText(1) ?? "", path: row.displayText(2) ?? "", offset: offset.map { Int($0) },
                text: row.displayText(4) ?? "")
            examples[row.displayText(0) ?? "", default: []].append(example)
        }
        return examples
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
    private func listItem(for example: Example, besides meaningText: String?, on medium: HTML.Medium?) -> HTML {
        let offset: HTML = example.offset.map { " at byte \($0)" } ?? ""
        let path: HTML = example.path.isEmpty ? "" : ": <code><bdi>\(example.path)</bdi></code>"
        let text: HTML = example.text == meaningText ? "" : ": <bdi>\(example.text)</bdi>"
        return .item("<bdi>\(example.capture)</bdi>\(path)\(offset)\(text)", on: medium)
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
