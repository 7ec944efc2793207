import Files
import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of the pages of a column, which the `zstd` command decompresses.
@Suite struct ColumnEncoderTests {
    /// Returns the encoded column of numbers in the notation of JSON, in which an empty string represents NULL.
    private func chunk(_ numbers: [String]) throws -> ColumnChunk {
        var text = TextBuffer()
        let cells: [Cell] = numbers.map { number in
            let start = text.count
            text.append(copying: number.utf8.span)
            return number.isEmpty ? .null : .real(start: start, count: UInt32(number.utf8.count))
        }
        let compressors = ValuePool { () throws(ZstdError) in try ZstdCompressor() }
        var encoder = ColumnEncoder(TableColumn("longitude", .real, "degrees"), compressors: compressors)
        encoder.append(0..<cells.count, of: cells, at: 0, stride: 1, text: text)
        return try encoder.finishRowGroup()
    }

    /// Returns the contents of a page with its header.
    private func contents(ofPage page: ArraySlice<UInt8>) throws -> [UInt8] {
        let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        let start = try #require(page.indices.first { page[$0...].starts(with: magic) })
        return Array(try tool(["zstd", "-dc"], input: Array(page[start...])))
    }

    private func bytes(_ numbers: Double...) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
    }

    @Test("Repeated negative numbers are in the dictionary unchanged, except for the sign of zero")
    func dictionary() throws {
        let chunk = try chunk(["-1.5", "-1.5", "", "2.25", "-1.5", "2.25", "-0.0", "-0.0", "-0.0"])
        let size = try #require(chunk.dictionarySize)
        #expect(try contents(ofPage: chunk.bytes[..<size]) == bytes(-1.5, 2.25, 0))
        #expect(chunk.statistics.minimum == ValueBound(value: bytes(-1.5), isExact: true))
        #expect(chunk.statistics.maximum == ValueBound(value: bytes(2.25), isExact: true))
        #expect(chunk.statistics.nullCount == 1)
    }

    @Test("Numbers of which few are repeated have no dictionary")
    func plain() throws {
        let chunk = try chunk(["-1.5", "", "1e2", "-1.5"])
        #expect(chunk.dictionarySize == nil)
        // The definition levels 1, 0, 1 and 1 are packed in one group.
        let levels: [UInt8] = [2, 0, 0, 0, 0b11, 0b1101]
        #expect(try contents(ofPage: chunk.bytes[...]) == levels + bytes(-1.5, 100, -1.5))
    }
}
