import Bytes
import Testing

@Suite struct LineCursorTests {
    private func lines(of text: String, from start: Int = 0) -> [LineCursor.Line] {
        let bytes = Array(text.utf8)
        var cursor = LineCursor(from: start)
        var lines: [LineCursor.Line] = []
        while let line = cursor.next(in: bytes.span) { lines.append(line) }
        #expect(cursor.count == lines.count)
        return lines
    }

    @Test("lines are found with and without a line feed at the end")
    func ranges() {
        #expect(lines(of: "").isEmpty)
        #expect(lines(of: "ab\n\nc\n").map(\.range) == [0..<2, 3..<3, 4..<5])
        #expect(lines(of: "ab\n\nc\n").map(\.isTerminated) == [true, true, true])
        #expect(lines(of: "ab\ncdefghijklm").map(\.range) == [0..<2, 3..<14])
        #expect(lines(of: "ab\ncdefghijklm").map(\.isTerminated) == [true, false])
    }

    @Test("a cursor starts at the given index")
    func start() {
        #expect(lines(of: "ab\ncd", from: 1).map(\.range) == [1..<2, 3..<5])
        #expect(lines(of: "ab", from: 2).isEmpty)
    }
}
