import Console
import Testing

@Suite struct WrappedTextTests {
    @Test(
        "lines are at most 80 columns wide, and only a longer word is wider",
        arguments: [
            ("", [String]()), ("one", ["  one"]), ("one  two", ["  one two"]),
            (
                String(repeating: "x", count: 78) + " y", ["  " + String(repeating: "x", count: 78), "    y"]
            ),
            (
                "a " + String(repeating: "x", count: 90) + " b",
                ["  a", "    " + String(repeating: "x", count: 90), "    b"]
            ),
            (
                String(repeating: "x", count: 70) + " one\u{A0}two three",
                ["  " + String(repeating: "x", count: 70) + " one two", "    three"]
            ),
            (
                String(repeating: "x", count: 72) + " one\u{A0}two three",
                ["  " + String(repeating: "x", count: 72), "    one two three"]
            ),
        ])
    func lines(text: String, expected: [String]) {
        #expect(WrappedText.lines(of: text, indent: 2) == expected)
    }
}
