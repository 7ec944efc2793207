import Testing

@testable import HTTP

/// Heads of answers, put together from their lines.
@Suite struct HeadLinesTests {
    /// The heads that are complete after some lines, each with the status that libcurl knows by then.
    private func heads(_ lines: [(String, Int)]) -> [HTTPHead] {
        var head = HeadLines(wanted: ["retry-after", "location"])
        var heads: [HTTPHead] = []
        for (line, status) in lines {
            let step = head.take(Array(line.utf8), status: { status })
            if case .complete(let found) = step { heads.append(found) }
        }
        return heads
    }

    @Test func theWantedFieldsAreKeptWithoutBlanks() {
        let lines = [
            "HTTP/1.1 429 Slow\r\n", "RETRY-After: \t7 \r\n", "Server: x\r\n", "Location:\r\n", "no field\r\n",
            "Retry-After: 8\r\n", "\r\n",
        ]
        #expect(
            heads(lines.map { ($0, 429) }) == [HTTPHead(status: 429, fields: ["retry-after": "7", "location": ""])])
    }

    @Test func anInterimAnswerIsNone() {
        let interim = [("HTTP/1.1 103 Early\r\n", 103), ("Location: /x\r\n", 103), ("\r\n", 103)]
        #expect(heads(interim).isEmpty)
        #expect(heads(interim + [("HTTP/1.1 200 OK\r\n", 200), ("\r\n", 200)]) == [HTTPHead(status: 200)])
    }

    @Test func anAnswerWithoutFurtherOnesIsFinal() {
        #expect(heads([("HTTP/1.1 101 Switching\r\n", 101), ("\r\n", 101)]) == [HTTPHead(status: 101)])
    }

    @Test func trailersAreOfNoInterest() {
        let lines = ["HTTP/1.1 200 OK\r\n", "\r\n", "Location: /late\r\n", "\r\n"]
        #expect(heads(lines.map { ($0, 200) }) == [HTTPHead(status: 200)])
    }

    @Test func aHeaderWithoutEndIsRead80KiBFar() {
        var head = HeadLines(wanted: [])
        let line = Array("X: \(String(repeating: "x", count: 1019))\r\n".utf8)
        var lines = 0
        while head.take(line, status: { 200 }) == .more { lines += 1 }
        #expect(lines == 80)
        head.restart()
        let step = head.take(line, status: { 200 })
        #expect(step == .more)
    }
}
