import Console
import Testing

@Suite struct WrappedTextTests {
    private struct Case: Sendable {
        let text: String
        let lines: [String]

        init(_ text: String, _ lines: String...) {
            self.text = text
            self.lines = lines
        }
    }

    private static let seventy = String(repeating: "x", count: 70)

    private static let cases = [
        Case(""), Case("one", "  one"), Case("one  two", "  one two"),
        Case("\(seventy) seven77 y", "  \(seventy) seven77", "    y"),
        Case("\(seventy) eight888", "  \(seventy)", "    eight888"),
        Case("a \(seventy)\(seventy) b", "  a", "    \(seventy)\(seventy)", "    b"),
        Case("\(seventy) one\u{A0}22 three", "  \(seventy) one 22", "    three"),
        Case("\(seventy) one\u{A0}two three", "  \(seventy) one two", "    three"),
        Case("\(seventy) one\u{A0}three four", "  \(seventy)", "    one three four"),
    ]

    @Test("Lines have at most 80 columns, unless a word is longer", arguments: cases.indices)
    func lines(index: Int) {
        let expected = Self.cases[index]
        #expect(WrappedText.lines(of: expected.text, indent: 2) == expected.lines)
    }
}
