import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of CSV fields against the rules of RFC 4180 and the reader of Python.
@Suite struct CSVTextTests {
    private func field(_ text: String) -> String {
        var output = TextBuffer()
        CSVText.append(field: Array(text.utf8).span, to: &output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("plain", "plain"), ("", "\"\""), (" space ", " space "), ("a,b", "\"a,b\""),
        ("say \"hi\"", "\"say \"\"hi\"\"\""),
        ("\"", "\"\"\"\""), ("two\nlines", "\"two\nlines\""), ("carriage\rreturn", "\"carriage\rreturn\""),
        ("Über 書 🦊", "Über 書 🦊"), ("{\"a\":\"b,c\"}", "\"{\"\"a\"\":\"\"b,c\"\"}\""),
        ("semicolon;tab\t", "semicolon;tab\t"),
        ("1234567,", "\"1234567,\""), ("12345678,", "\"12345678,\""), ("1234567\"", "\"1234567\"\"\""),
        ("\u{0}nul", "\u{0}nul"), ("-", "-"), ("!#+-./", "!#+-./"), ("\u{B}\u{C}\u{E}", "\u{B}\u{C}\u{E}"),
    ])
    func fields(text: String, expected: String) {
        #expect(field(text) == expected)
    }

    private func spreadsheetField(_ text: String) -> String {
        var output = TextBuffer()
        CSVText.append(field: Array(text.utf8).span, style: .spreadsheet, to: &output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    @Test(
        "Text for spreadsheets is quoted, and each part that resembles a formula is preceded by an apostrophe",
        arguments: [
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "-1"), ("-0.0", "-0.0"), ("-1e-7", "-1e-7"), ("-1+1", "'-1+1"),
            ("-inf", "'-inf"), ("@a", "'@a"), ("\ta", "'\ta"), ("\ra", "'\ra"), ("\na", "'\na"), ("\u{0}a", "'\u{0}a"),
            ("=a,\"b\"", "'=a,\"\"b\"\""), ("-", "'-"), ("", ""), ("a=1", "a=1"), (" =1", " '=1"),
            ("\u{A0}=1", "\u{A0}'=1"),
            ("\u{200B}=1", "\u{200B}'=1"), ("'=1", "'=1"), ("|a", "|a"), ("\n=1", "'\n'=1"), ("1", "1"),
            ("x;=1+1", "x;'=1+1"), ("x;\t @a", "x;\t '@a"), ("a\r\n-2+3", "a\r\n'-2+3"),
            ("a\u{2028}=1", "a\u{2028}'=1"),
            ("x|+1", "x|'+1"), ("x;\"=1", "x;\"\"'=1"), ("a,=1", "a,=1"),
            ("x;-2+3+cmd|' /C calc'!A0", "x;'-2+3+cmd|' /C calc'!A0"),
            ("x;-2", "x;-2"), ("x;-2;y", "x;-2;y"), (#"{"a":[1,-2]}"#, #"{""a"":[1,-2]}"#), ("ä;ö", "ä;ö"),
            ("\u{FF1D}1", "'\u{FF1D}1"), ("\u{FF0B}1", "'\u{FF0B}1"), ("\u{FF0D}1", "'\u{FF0D}1"),
            ("\u{FF20}a", "'\u{FF20}a"), ("\u{2212}1", "'\u{2212}1"), ("x;\u{FE66}1", "x;'\u{FE66}1"),
        ])
    func spreadsheet(text: String, expected: String) {
        #expect(spreadsheetField(text) == "\"\(expected)\"")
    }

    @Test(
        "Text for spreadsheets has at most 32,767 code units of UTF-16, including a mark with its length",
        arguments: [
            (String(repeating: "a", count: 32_767), 0), (String(repeating: "a", count: 32_768), 32_768),
            (String(repeating: "=", count: 1) + String(repeating: "a", count: 32_766), 32_768),
            (String(repeating: "é", count: 32_767), 0), (String(repeating: "é", count: 40_000), 40_000),
            (String(repeating: "🦊", count: 16_383), 0), (String(repeating: "🦊", count: 16_384), 32_768),
            (String(repeating: "\"", count: 32_767), 0),
        ])
    func truncatedText(text: String, length: Int) throws {
        var output = TextBuffer()
        let isTruncated = CSVText.append(field: Array(text.utf8).span, style: .spreadsheet, to: &output)
        let field = String(decoding: output.bytes, as: UTF8.self)
        #expect(isTruncated == (length > 0))
        let cell = String(field.dropFirst().dropLast()).replacing("\"\"", with: "\"")
        let mark = "… [truncated: \(length) characters]"
        #expect(cell.hasSuffix(mark) == isTruncated)
        #expect(isTruncated ? (32_766...32_767).contains(cell.utf16.count) : cell == text)
        let start = cell.dropLast(isTruncated ? mark.count : 0)
        #expect(text.hasPrefix(start.hasPrefix("'") ? start.dropFirst() : start))
        var plain = TextBuffer()
        #expect(!CSVText.append(field: Array(text.utf8).span, to: &plain) && plain.count >= text.utf8.count)
    }

    @Test("No cell begins like a formula, whatever separator a program expects")
    func spreadsheetSeparators() throws {
        var generator = SeededGenerator(seed: 11)
        let letters = [
            "=", "+", "-", "@", ";", ",", "|", "\t", "\n", "\r", "\"", "'", " ", "a", "1", ".", "\u{FF1D}", "\u{200B}",
            "\u{A0}",
        ]
        let rows = (0..<1500).map { _ in
            let cells = (0..<3).map { _ in
                (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "a"
                }.joined()
            }
            return "1,\(spreadsheetField(cells[0])),\(spreadsheetField(cells[1])),-2.5,\(spreadsheetField(cells[2]))\n"
        }
        let folder = try TemporaryFolder()
        try folder.put(rows.joined(), "rows.csv")
        let script = """
            import csv, re, sys
            signs = "=+-@\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}"
            text = open(sys.argv[1], encoding="utf-8", newline="").read()
            for separator in ",;|\\t":
                for row in csv.reader(text.splitlines(True), delimiter=separator):
                    for cell in row:
                        start = cell.lstrip(" \u{A0}\u{200B}")
                        if start[:1] and start[0] in signs:
                            number = re.match(r'-[0-9][0-9.]*(?=$|[;|\\t\\r\\n",])', start)
                            assert number, (separator, cell)
            """
        try tool("python3", "-c", script, folder("rows.csv"))
    }

    @Test("Truncated cells are counted, also if a cell is equal to that of the previous row")
    func truncatedCells() {
        let rowTable = RowTable<Cell>("t", aRowForEach: "test", key: ["t"], [.cell("t", .text, "t") { $0 }])
        var rows = RowBuffer([rowTable.table])
        let long = rows.keep(String(repeating: "x", count: 40_000))
        for cell in [long, long, .null, long] { rows.add(cell, to: rowTable, at: RowPlace(number: 1)) }
        for (style, count) in [(CSVText.Style.spreadsheet, 3), (.plain, 0)] {
            var output = TextBuffer()
            let summary = CSVText.append(rowsOfTableAt: 0, rowTable.table, in: rows, style: style, to: &output)
            #expect(summary.truncatedCellCount == count)
            let header = CSVText.header(of: rowTable.table, style: style)
            #expect(header.starts(with: [0xEF, 0xBB, 0xBF]) == (count > 0))
        }
    }

    @Test("Numbers are not preceded by an apostrophe, and the longest row is measured", arguments: [true, false])
    func numbers(forSpreadsheets: Bool) {
        let rowTable = RowTable<Int>(
            "t", aRowForEach: "test", key: ["i"],
            [
                .integer("i", "i") { $0 },
                .stored("r", .real, "r") { _, buffer in
                    guard case .text(let start, let count) = buffer.keep("-2.5") else { return .null }
                    return .real(start: start, count: count)
                },
                .text("t", "t") { $0 < 0 ? "-longer" : "b" },
            ])
        let table = rowTable.table
        var rows = RowBuffer([table])
        for number in [-1, 1] { rows.add(number, to: rowTable, at: RowPlace(number: 1)) }
        var output = TextBuffer()
        let summary = CSVText.append(
            rowsOfTableAt: 0, table, in: rows, style: forSpreadsheets ? .spreadsheet : .plain, to: &output)
        let lines =
            forSpreadsheets ? "-1,-2.5,\"'-longer\"\n1,-2.5,\"b\"\n" : "-1,-2.5,-longer\n1,-2.5,b\n"
        #expect(String(decoding: output.bytes, as: UTF8.self) == lines)
        #expect(summary == CSVText.Summary(longestRow: forSpreadsheets ? 19 : 16))
    }

    @Test("The options of a script that loads long rows are large enough")
    func loadScript() {
        let table = Table("t", aRowForEach: "test", [TableColumn("json", .json, "j's")], key: ["json"])
        let script = LoadScript.text(for: [table], longestRows: [2_000_000], style: .plain)
        #expect(!script.contains("max_line_size") && !script.contains("--spreadsheet"))
        #expect(script.contains(#"coalesce(try_cast("json" AS JSON), to_json("json")) AS "json""#))
        #expect(script.contains(#"COMMENT ON COLUMN "t"."json" IS 'j''s';"#))
        let long = LoadScript.text(for: [table], longestRows: [100_000_000], style: .spreadsheet)
        #expect(long.contains("max_line_size = 100000000, buffer_size = 200000000") && long.contains("--spreadsheet"))
    }

    @Test("The reader of Python parses each field as the original text")
    func pythonReadsFields() throws {
        var generator = SeededGenerator(seed: 7)
        let letters: [Character] = ["\"", ",", "\n", "\r", "a", "é", " ", "\u{2C}", "\u{AC}"]
        let texts = (0..<400).map { _ in
            String(
                (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "a"
                })
        }
        let folder = try TemporaryFolder()
        try folder.put(texts.map { field($0) + "\n" }.joined(), "fields.csv")
        let script = """
            import csv, sys
            for row in csv.reader(open(sys.argv[1], encoding="utf-8", newline="")):
                assert len(row) == 1, row
                print(row[0].encode("utf-8").hex())
            """
        let found = try tool("python3", "-c", script, folder("fields.csv")).split(
            separator: "\n", omittingEmptySubsequences: false)
        let hex = texts.map { text in text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        #expect(found.dropLast().map(String.init) == hex)
    }
}
