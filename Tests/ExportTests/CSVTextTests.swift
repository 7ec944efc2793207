import JSONText
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
