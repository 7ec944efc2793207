import Testing

@testable import Export

/// Tests of HTML pieces, in which captured data must never become markup.
@Suite struct HTMLTests {
    @Test(
        "Text is escaped in elements and attributes",
        arguments: [
            ("plain", "plain"), ("<script>", "&lt;script&gt;"), ("a & b", "a &amp; b"), ("&lt;", "&amp;lt;"),
            ("\"'", "&quot;&#39;"), ("é中🙂", "é中🙂"), ("\u{202E}abc", "\\u{202E}abc"), ("a\u{0}b\n", "a\\u{0}b\\u{A}"),
            ("\u{1B}[31m", "\\u{1B}[31m"), ("]]>--><", "]]&gt;--&gt;&lt;"),
        ])
    func escaping(text: String, escaped: String) {
        let element: HTML = "<p title=\"\(text)\">\(text)</p>"
        #expect(element.text == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test func piecesAreNotEscapedTwice() {
        let inner: HTML = "<b>\("<")</b>"
        let outer: HTML = "<p>\(inner)\([inner, inner])\(7)</p>"
        #expect(outer.text == "<p><b>&lt;</b><b>&lt;</b><b>&lt;</b>7</p>")
        #expect((inner + "<hr>").text == "<b>&lt;</b><hr>")
        #expect(HTML(["a", "b"], separator: "<br>").text == "a<br>b")
    }

    @Test func capturedTextIsIsolated() {
        #expect(HTML.captured("<x>").text == "<bdi>&lt;x&gt;</bdi>")
        #expect(HTML.captured(nil).text == "<span class=\"none\">unknown</span>")
    }

    @Test func longNamesAreTruncatedBetweenCharacters() {
        #expect(DisplayText.truncated(String(repeating: "x", count: 160)) == String(repeating: "x", count: 160))
        #expect(DisplayText.truncated(String(repeating: "x", count: 161)) == String(repeating: "x", count: 160) + "…")
        // The limit is within the 54th of 80 characters of 3 bytes each.
        #expect(DisplayText.truncated(String(repeating: "中", count: 80)) == String(repeating: "中", count: 53) + "…")
    }

    @Test func clientNamesAreShort() {
        #expect(HTML.clientName("AB<D-6789").text == "<code title=\"AB&lt;D-6789\"><bdi>AB&lt;D-678</bdi></code>")
        #expect(HTML.clientName(nil).text == "<span class=\"none\">no client</span>")
    }

    @Test func furtherRowsAreCollapsed() {
        var table = HTMLTable("Caption", ["title"])
        table.rows = (0..<20).map { ["\($0)"] }
        #expect(!table.html.text.contains("<details>"))
        table.rows.append(["last"])
        let parts = table.html.text.split(separator: "<details>")
        #expect(parts.count == 2)
        #expect(parts[0].contains(">19</th>") && !parts[0].contains(">last</th>"))
        #expect(parts[1].hasPrefix("<summary><bdi>1 more row</bdi></summary>") && parts[1].contains(">last</th>"))
    }

    @Test("A bar is in the cell of its number, and the title of the column names both")
    func barsAreLabeled() {
        var table = HTMLTable("Caption", ["app", .bars("records"), .number("clients")])
        table.rows = [["a", "3\(Bar(value: 3, maxValue: 3).svg)", "1"]]
        let html = table.html.text
        #expect(
            html.contains("<th scope=\"col\" class=\"n bars\">records</th><th scope=\"col\" class=\"n\">clients</th>"))
        #expect(
            html.contains("<td class=\"n\">3<svg class=\"bar\"") && html.contains("</svg></td><td class=\"n\">1</td>"))
    }

    @Test(
        "The remark on paper counts the rows that are not printed, too",
        arguments: [
            (10, 0, 1, ""), (10, 7, 1, "<p class=\"aside\">Not shown: 7 records.</p>"),
            (12, 0, 1, "<p class=\"aside paper\">Not shown on paper: 23 records.</p>"),
            (
                12, 7, 1,
                "<p class=\"aside screen\">Not shown: 7 records.</p><p class=\"aside paper\">Not shown on paper: 30 records.</p>"
            ),
            // The rows 11 and 12 are shown as 10 each.
            (
                12, 9, 5,
                "<p class=\"aside screen\">Not shown: 5 records.</p><p class=\"aside paper\">Not shown on paper: 25 records.</p>"
            ),
            (12, 4, 5, "<p class=\"aside paper\">Not shown on paper: 20 records.</p>"),
        ])
    func remainders(rows: Int, others: Int, minimumCount: Int, text: String) {
        // The counts of the rows are 1, 2, and so on.
        let formatter = CountFormatter(minimumCount: minimumCount)
        #expect(formatter.remainder(of: Array(1...rows), besides: others, "record").text == text)
    }

    @Test func remaindersDoNotOverflow() {
        let text = CountFormatter(minimumCount: 1).remainder(
            "Other", of: Array(repeating: .max, count: 12), besides: .max, "search", " of a kind"
        ).text
        #expect(
            text.contains("<p class=\"aside paper\">Other on paper: 9,223,372,036,854,775,807 searches of a kind.</p>"))
    }

    @Test(
        "A long name can be broken after its dots",
        arguments: [
            ("org.example.app", "org.example.app"), ("org.example.Reader", "org.<wbr>example.<wbr>Reader"),
            ("a.b<c>.1.23456789..", "a.<wbr>b&lt;c&gt;.1.23456789.."),
        ])
    func longNames(name: String, html: String) { #expect(("\(name: name)" as HTML).text == html) }

    @Test(
        arguments: [
            (0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (30_921, "30.9 kB"), (999_999, "999.9 kB"),
            (511_119_665, "511.1 MB"), (2_000_000_000_000_000, "2000.0 TB"),
        ])
    func sizes(bytes: Int, text: String) { #expect(CountFormatter.size(bytes) == text) }
}
