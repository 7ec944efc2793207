import Foundation
import TestSupport
import Testing

@testable import Export

/// Tests of records as NDJSON, compressed and uncompressed.
@Suite struct RecordsOutputTests {
    /// The pieces that were written.
    private final class Pieces {
        var pieces: [[UInt8]] = []
        var bytes: [UInt8] { pieces.reduce(into: []) { $0 += $1 } }
    }

    /// Writes lines to an output.
    ///
    /// The payload of each line is between `<` and `>`.
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

    /// Returns the output of the zstd command for frames.
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        Array(try tool(["zstd", "-dc"], input: bytes))
    }

    @Test("Records are written unchanged, one on each line")
    func records() throws {
        let lines = ["{\"a\":<1>}\n", "{\"b\":<é>}\n"]
        #expect(try pieces(lines).bytes == Array(lines.joined().utf8))
    }

    @Test("Payloads are written alone, one on each line")
    func payloads() throws {
        #expect(try pieces(["{\"a\":<1>}\n", "{\"b\":<{}>}\n"], .payload).bytes == Array("<1>\n<{}>\n".utf8))
    }

    @Test("Without records the output is empty, or a valid zstd file if compressed")
    func noRecords() throws {
        #expect(try pieces([]).pieces.isEmpty)
        let empty = try pieces([], isCompressed: true).bytes
        #expect(!empty.isEmpty)
        #expect(try unpacked(empty) == [])
    }

    @Test("Output is written in pieces of about one mebibyte", arguments: [false, true])
    func largeOutput(isCompressed: Bool) throws {
        let line = "<" + String(repeating: "x", count: 100_000) + ">\n"
        let lines = Array(repeating: line, count: 50)
        let pieces = try pieces(lines, isCompressed: isCompressed)
        #expect(pieces.pieces.count == 5)
        let bytes = isCompressed ? try unpacked(pieces.bytes) : pieces.bytes
        #expect(bytes == Array(lines.joined().utf8))
    }

    @Test("A large record is written directly after the buffered records", arguments: RecordsOutput.Content.all)
    func largeRecord(content: RecordsOutput.Content) throws {
        let large = "<" + String(repeating: "y", count: 3 << 20) + ">\n"
        let lines = ["<1>\n", large, "<2>\n"]
        let pieces = try pieces(lines, content)
        #expect(pieces.bytes == Array(lines.joined().utf8))
        #expect(pieces.pieces.first == Array("<1>\n".utf8))
    }

    @Test("An error of writing is thrown")
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
    fileprivate static let all: [RecordsOutput.Content] = [.record, .payload]
}
