import Console
import Testing

/// Tables on a terminal.
@Suite struct TextTableTests {
    @Test("columns are as wide as their widest cell; numbers stand to the right, and no line ends in spaces")
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

    @Test("a column with one other cell than a number stands to the left")
    func mixedColumn() {
        let table = TextTable(header: ["n", "b"], rows: [["1", "x"], ["22–23", "y"]])
        #expect(table.lines == ["n      b", "1      x", "22–23  y"])
    }

    @Test("what cannot be seen in a cell is shown, and counts in its width")
    func unseen() {
        let table = TextTable(header: ["a", "b"], rows: [["\u{1B}[2J", "x"], ["\n", "y"]])
        #expect(table.lines == [#"a          b"#, #"\u{1B}[2J  x"#, #"\u{A}      y"#])
    }

    @Test("characters are counted, not bytes")
    func characters() {
        let table = TextTable(header: ["name", "n"], rows: [["Föcus e\u{301}", "1"], ["Firefox", "2"]])
        #expect(table.lines == ["name     n", "Föcus e\u{301}  1", "Firefox  2"])
    }

    @Test("a table without rows is its header")
    func noRows() { #expect(TextTable(header: ["a", "bb"], rows: []).lines == ["a  bb"]) }
}
