import Testing

@testable import HTTP

@Suite struct ResponseHeadParserTests {
    /// Returns the heads that the lines form.
    ///
    /// Each line has the status code that libcurl reports at that time.
    private func heads(_ lines: [(String, Int)]) -> [HTTPResponseHead] {
        var parser = ResponseHeadParser(keeping: ["retry-after", "location"])
        var heads: [HTTPResponseHead] = []
        for (line, status) in lines {
            let step = parser.parse(Array(line.utf8), status: { status })
            if case .complete(let found) = step { heads.append(found) }
        }
        return heads
    }

    @Test func requestedFieldsAreKeptWithoutBlanks() {
        let lines = [
            "HTTP/1.1 429 Slow\r\n", "RETRY-After: \t7 \r\n", "Server: x\r\n", "Location:\r\n", "no field\r\n",
            "Retry-After: 8\r\n", "\r\n",
        ]
        #expect(
            heads(lines.map { ($0, 429) }) == [
                HTTPResponseHead(status: 429, fields: ["retry-after": "7", "location": ""])
            ])
    }

    @Test func interimResponsesAreSkipped() {
        let interim = [("HTTP/1.1 103 Early\r\n", 103), ("Location: /x\r\n", 103), ("\r\n", 103)]
        #expect(heads(interim).isEmpty)
        #expect(heads(interim + [("HTTP/1.1 200 OK\r\n", 200), ("\r\n", 200)]) == [HTTPResponseHead(status: 200)])
    }

    @Test func switchingProtocolsIsFinal() {
        #expect(heads([("HTTP/1.1 101 Switching\r\n", 101), ("\r\n", 101)]) == [HTTPResponseHead(status: 101)])
    }

    @Test func trailersAreIgnored() {
        let lines = ["HTTP/1.1 200 OK\r\n", "\r\n", "Location: /late\r\n", "\r\n"]
        #expect(heads(lines.map { ($0, 200) }) == [HTTPResponseHead(status: 200)])
    }

    @Test func headerSizeIsLimitedTo80KiB() {
        var parser = ResponseHeadParser(keeping: [])
        let line = Array("X: \(String(repeating: "x", count: 1019))\r\n".utf8)
        var lines = 0
        while parser.parse(line, status: { 200 }) == .needsMoreLines { lines += 1 }
        #expect(lines == 80)
        parser.reset()
        let step = parser.parse(line, status: { 200 })
        #expect(step == .needsMoreLines)
    }
}
