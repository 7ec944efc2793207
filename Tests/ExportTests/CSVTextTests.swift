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

    @Test(
        "Text that resembles a formula is preceded by an apostrophe for spreadsheets",
        arguments: [
            ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "-1"), ("-0.0", "-0.0"), ("-1e-7", "-1e-7"), ("-1+1", "'-1+1"),
            ("-inf", "'-inf"),
            ("@a", "'@a"), ("\ta", "'\ta"), ("\ra", "\"'\ra\""),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""), ("-", "'-"), ("", "\"\""), ("a=1", "a=1"), (" =1", " =1"),
            ("'=1", "'=1"),
            ("|a", "|a"), ("\n=1", "\"\n=1\""), ("1", "1"),
        ])
    func spreadsheet(text: String, expected: String) {
        var output = TextBuffer()
        CSVText.append(field: Array(text.utf8).span, style: .spreadsheet, to: &output)
        #expect(String(decoding: output.bytes, as: UTF8.self) == expected)
    }

    @Test("Numbers are not preceded by an apostrophe, and the longest row is measured", arguments: [true, false])
    func numbers(forSpreadsheets: Bool) {
        let table = Table(
            "t", aRowForEach: "test",
            [TableColumn("i", .integer, "i"), TableColumn("r", .real, "r"), TableColumn("t", .text, "t")], key: ["i"])
        var rows = RowBuffer([table])
        for number in [-1, 1] as [Int64] {
            let (real, text) = (rows.keep("-2.5"), rows.keep(number < 0 ? "-longer" : "b"))
            guard case .text(let start, let count) = real else { return }
            rows.add([.integer(number), .real(start: start, count: count), text], to: 0)
        }
        var output = TextBuffer()
        let longest = CSVText.append(
            rowsOfTableAt: 0, table, in: rows, style: forSpreadsheets ? .spreadsheet : .plain, to: &output)
        let lines = forSpreadsheets ? "-1,-2.5,'-longer\n1,-2.5,b\n" : "-1,-2.5,-longer\n1,-2.5,b\n"
        #expect(String(decoding: output.bytes, as: UTF8.self) == lines)
        #expect(longest == (forSpreadsheets ? 17 : 16))
    }

    @Test("The options of a script that loads long rows are large enough")
    func loadScript() {
        let table = Table("t", aRowForEach: "test", [TableColumn("json", .json, "j")], key: ["json"])
        let script = LoadScript.text(for: [table], longestRows: [2_000_000], style: .plain)
        #expect(!script.contains("max_line_size") && !script.contains("--spreadsheet"))
        #expect(script.contains(#"coalesce(try_cast("json" AS JSON), to_json("json")) AS "json""#))
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
