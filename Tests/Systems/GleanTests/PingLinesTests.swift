import TestSupport
import Testing

@testable import Glean

@Suite struct PingLinesTests {
    private func lines(_ text: String) throws -> [String?] {
        let bytes = Array(text.utf8)
        let lines = try PingLines(bytes)
        return [lines.path, lines.body, lines.metadata].map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
            + lines.notes.map(\.code)
    }

    private static let validFiles: [(String, [String?])] = [
        ("/p\n{}", ["/p", "{}", nil]), ("/p\n{}\n", ["/p", "{}", nil]), ("/p\n{}\n \t\n\n", ["/p", "{}", nil]),
        ("/p\n{}\n{\"a\":1}", ["/p", "{}", "{\"a\":1}"]), ("\n{}\nx", ["", "{}", "x"]),
        ("/p\r\n{}\r\nx\r\n", ["/p", "{}", "x", "G11"]), ("/p\n{}\r", ["/p", "{}", nil, "G11"]),
        ("\u{FEFF}/p\n{}", ["/p", "{}", nil, "G12"]), ("/p\n{}\nx\ny", ["/p", "{}", "x", "G13"]),
        ("/p\n{}\n\ny", ["/p", "{}", nil, "G13"]), ("/p\n {} \nx\n \n", ["/p", " {} ", "x"]),
    ]

    @Test("The lines of a file are found, and unusual lines are noted", arguments: validFiles)
    func lines(text: String, expected: [String?]) throws {
        #expect(try lines(text) == expected)
    }

    private static let invalidFiles: [([UInt8], RejectSummary)] = [
        ([], RejectSummary("G1")), (Array("/p".utf8), RejectSummary("G2")), (Array("/p\n".utf8), RejectSummary("G2")),
        (Array("/p\r{}".utf8), RejectSummary("G2")), (Array("/p\n\n{}".utf8), RejectSummary("G3", at: 3, length: 0)),
        (Array("/p\n \t\r\nx".utf8), RejectSummary("G3", at: 3, length: 3)),
        (Array("/p\0\n{}".utf8), RejectSummary("G8")),
        (Array("/p\n{\0}\n".utf8), RejectSummary("G8")), ([0, 0, 0], RejectSummary("G8")),
        (Array("/p".utf8) + [0xFF] + Array("\n{}".utf8), RejectSummary("G9")),
        (Array("/p\n{".utf8) + [0xED, 0xA0, 0x80] + Array("}".utf8), RejectSummary("G9")),
    ]

    @Test("Files without a path and a body are rejected", arguments: invalidFiles)
    func rejectedFiles(bytes: [UInt8], expected: RejectSummary) {
        let error = #expect(throws: PingFileError.self) { try PingLines(bytes) }
        #expect(error.map { RejectSummary($0.reject) } == expected)
    }

    @Test("An invalid third line does not make the file unreadable")
    func thirdLine() throws {
        let bytes = Array("/p\n{}\n".utf8) + [0, 0xFF]
        #expect(try PingLines(bytes).metadata == 6..<8)
    }
}
