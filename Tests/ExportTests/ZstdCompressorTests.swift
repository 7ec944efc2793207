import Foundation
import TestSupport
import Testing

@testable import Export

/// Tests of compressing pieces of an output into zstd frames.
@Suite struct ZstdCompressorTests {
    private let texts = ["", "a", String(repeating: "record ", count: 10_000)].map { Array($0.utf8) }

    @Test("The zstd command decodes single frames and concatenated frames")
    func frames() throws {
        let compressor = try ZstdCompressor()
        let frames = try texts.map(compressor.compressedFrame)
        for (frame, text) in zip(frames, texts) {
            #expect(Array(try tool(["zstd", "-dc"], input: frame)) == text)
        }
        #expect(Array(try tool(["zstd", "-dc"], input: Array(frames.joined()))) == Array(texts.joined()))
    }

    @Test("Equal pieces give equal frames, regardless of earlier pieces")
    func determinism() throws {
        let (used, fresh) = (try ZstdCompressor(), try ZstdCompressor())
        for text in texts { _ = try used.compressedFrame(of: text) }
        let (first, second) = (try used.compressedFrame(of: texts[2]), try fresh.compressedFrame(of: texts[2]))
        #expect(first == second)
    }

    @Test("The checksum of a frame detects a flipped bit")
    func checksum() throws {
        // Random bytes are stored uncompressed, so that a frame with a flipped bit can still be decoded.
        var generator = SeededGenerator(seed: 7)
        let text = (0..<1000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var frame = try ZstdCompressor().compressedFrame(of: text)
        frame[500] ^= 1
        #expect(throws: ToolFailure.self) { try tool(["zstd", "-dc"], input: frame) }
    }
}
