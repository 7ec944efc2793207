import Foundation
import TestSupport
import Testing

@testable import Export

/// Records as NDJSON, as they are or compressed.
@Suite struct RecordsOutputTests {
    /// What was handed on, piece by piece.
    private final class Pieces {
        var pieces: [[UInt8]] = []
        var bytes: [UInt8] { Array(pieces.joined()) }
    }

    /// Runs lines through an output; each payload stands between `<` and `>`.
    private func pieces(
        _ lines: [String], _ content: RecordsOutput.Content = .record, isCompressed: Bool = false
    ) throws -> Pieces {
        let pieces = Pieces()
        var output = try RecordsOutput(content, isCompressed: isCompressed) { span in
            pieces.pieces.append(span.indices.map { span[$0] })
        }
        for line in lines {
            let bytes = Array(line.utf8)
            let start = bytes.firstIndex(of: UInt8(ascii: "<")) ?? 0
            let end = bytes.lastIndex(of: UInt8(ascii: ">")) ?? 0
            try output.add(line: bytes[...], payload: bytes[start...end])
        }
        try output.finish()
        return pieces
    }

    /// What the tool of zstd makes of frames.
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        Array(try tool(["zstd", "-dc"], input: bytes))
    }

    @Test("records come out line by line as they are")
    func records() throws {
        let lines = ["{\"a\":<1>}\n", "{\"b\":<é>}\n"]
        #expect(try pieces(lines).bytes == Array(lines.joined().utf8))
    }

    @Test("payloads come out alone, a line each")
    func payloads() throws {
        #expect(try pieces(["{\"a\":<1>}\n", "{\"b\":<{}>}\n"], .payload).bytes == Array("<1>\n<{}>\n".utf8))
    }

    @Test("nothing is written for no records; compressed, that is still a file of zstd")
    func noRecords() throws {
        #expect(try pieces([]).pieces.isEmpty)
        let empty = try pieces([], isCompressed: true).bytes
        #expect(!empty.isEmpty)
        #expect(try unpacked(empty) == [])
    }

    @Test("output is handed on in pieces of about a mebibyte, whatever is in them", arguments: [false, true])
    func largeOutput(isCompressed: Bool) throws {
        let line = "<" + String(repeating: "x", count: 100_000) + ">\n"
        let lines = Array(repeating: line, count: 50)
        let pieces = try pieces(lines, isCompressed: isCompressed)
        #expect(pieces.pieces.count == 5)
        let bytes = isCompressed ? try unpacked(pieces.bytes) : pieces.bytes
        #expect(bytes == Array(lines.joined().utf8))
    }

    @Test("a large record is handed on as it is, after what came before it", arguments: RecordsOutput.Content.allOfThem)
    func largeRecord(content: RecordsOutput.Content) throws {
        let large = "<" + String(repeating: "y", count: 3 << 20) + ">\n"
        let lines = ["<1>\n", large, "<2>\n"]
        let pieces = try pieces(lines, content)
        #expect(pieces.bytes == Array(lines.joined().utf8))
        #expect(pieces.pieces.first == Array("<1>\n".utf8))
    }

    @Test("what writing throws comes out, and ends the output")
    func failure() throws {
        struct DiskFull: Error {}
        var output = try RecordsOutput(.record, isCompressed: false) { _ in throw DiskFull() }
        let bytes = Array("<1>\n".utf8)
        try output.add(line: bytes[...], payload: bytes[0..<3])
        do {
            try output.finish()
            Issue.record("nothing was thrown")
        } catch is DiskFull {}
    }
}

extension RecordsOutput.Content {
    fileprivate static let allOfThem: [RecordsOutput.Content] = [.record, .payload]
}
