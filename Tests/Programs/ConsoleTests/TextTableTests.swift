import Console
import Testing

/// Tests of the alignment and escaping of tables.
@Suite struct TextTableTests {
    @Test(
        "Columns have the width of their widest cell, numbers are aligned to the right, and lines have no trailing spaces"
    )
    func alignment() {
        let table = TextTable(
            header: ["system", "records", "why"],
            rows: [["mozilla", "7", "schema 1"], ["sift", "12345678", ""], ["activity-stream", "0", "x"]])
        #expect(
            table.lines == [
                "system            records  why",
                "mozilla                 7  schema 1",
                "sift             12345678",
                "activity-stream         0  x",
            ])
    }

    @Test("A column with a cell that is not a number is aligned to the left")
    func mixedColumn() {
        let table = TextTable(header: ["n", "b"], rows: [["1", "x"], ["22–23", "y"]])
        #expect(table.lines == ["n      b", "1      x", "22–23  y"])
    }

    @Test("Unprintable characters are escaped before the width is computed")
    func unprintableCharacters() {
        let table = TextTable(header: ["a", "b"], rows: [["\u{1B}[2J", "x"], ["\n", "y"]])
        #expect(table.lines == [#"a          b"#, #"\u{1B}[2J  x"#, #"\u{A}      y"#])
    }

    @Test("The width is counted in characters")
    func characters() {
        let table = TextTable(header: ["name", "n"], rows: [["Föcus e\u{301}", "1"], ["Firefox", "2"]])
        #expect(table.lines == ["name     n", "Föcus e\u{301}  1", "Firefox  2"])
    }

    @Test("A table without rows has only the header")
    func noRows() { #expect(TextTable(header: ["a", "bb"], rows: []).lines == ["a  bb"]) }
}
