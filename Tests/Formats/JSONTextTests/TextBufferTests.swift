import Bytes
import Testing

@testable import JSONText

/// Bytes are written sixteen at a time, more than there are: what counts is what stands in the buffer afterwards.
@Suite struct TextBufferTests {
    /// Around the sixteen bytes of a store, and the two of them that a constant text takes.
    private static let lengths = [0, 1, 2, 7, 8, 9, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49, 255, 256, 257]

    /// Different bytes, none of them 0, which is what new memory holds.
    private static func sample(_ count: Int, from first: Int = 1) -> [UInt8] {
        (0..<count).map { UInt8(($0 + first) % 251 + 1) }
    }

    private static func isSample(_ buffer: TextBuffer, of count: Int) -> Bool {
        buffer.span.equals(sample(count).span)
    }

    private static func text(of buffer: TextBuffer) -> String { String(decoding: buffer.bytes, as: UTF8.self) }

    @Test("a new buffer is empty")
    func new() {
        let buffer = TextBuffer()
        #expect(buffer.count == 0)
        #expect(buffer.bytes == [])
        #expect(Array(buffer[0..<0]) == [])
    }

    @Test("its bytes can be looked at where they stand, without those that were forgotten")
    func looking() {
        var buffer = TextBuffer(Self.sample(20))
        #expect(Self.isSample(buffer, of: 20))
        buffer.removeAll(from: 5)
        #expect(Self.isSample(buffer, of: 5))
        #expect(buffer.capacity >= 20)
        buffer.removeAll()
        #expect(Self.isSample(buffer, of: 0))
    }

    @Test("bytes of any length are appended as they are", arguments: lengths)
    func copies(length: Int) {
        let bytes = Self.sample(length)
        var buffer = TextBuffer()
        buffer.append(copying: bytes.span)
        #expect(buffer.count == length)
        #expect(buffer.bytes == bytes)
        buffer.append(copying: bytes.span)
        #expect(buffer.bytes == bytes + bytes)
        #expect(Array(buffer[length..<2 * length]) == bytes)
    }

    @Test("what is written over by the last store of one text is there in the next", arguments: lengths)
    func neighbors(length: Int) {
        var buffer = TextBuffer()
        var expected: [UInt8] = []
        for other in Self.lengths {
            let (first, second) = (Self.sample(length), Self.sample(other, from: 100))
            buffer.append(room: length + other + 1) { output in
                output.append(copying: first.span)
                output.append(UInt8(ascii: "|"))
                output.append(copying: second.span)
            }
            expected += first + [UInt8(ascii: "|")] + second
        }
        #expect(buffer.bytes == expected)
    }

    @Test("any part of bytes is appended, also at either end of them", arguments: [0, 1, 15, 16, 17, 31, 32, 33, 50])
    func parts(length: Int) {
        let bytes = Self.sample(length)
        for start in 0...length {
            for end in start...length {
                var buffer = TextBuffer()
                buffer.append(room: end - start) {
                    $0.append(copying: bytes.span, from: UInt32(start), to: UInt32(end))
                }
                #expect(buffer.bytes == Array(bytes[start..<end]), "\(start)..<\(end)")
            }
        }
    }

    @Test("the writer counts on from what is there")
    func writerCount() {
        var buffer = TextBuffer()
        buffer.append(copying: Self.sample(20).span)
        var counts: [Int] = []
        buffer.append(room: 36) { output in
            counts.append(output.count)
            output.append(UInt8(ascii: "x"))
            counts.append(output.count)
            output.append("äé" as String)
            counts.append(output.count)
            output.append("constant" as TextPiece)
            counts.append(output.count)
        }
        #expect(counts == [20, 21, 25, 33])
        #expect(buffer.count == 33)
        #expect(buffer.bytes == Self.sample(20) + Array("xäéconstant".utf8))
    }

    @Test("room that is not used up is no part of the text")
    func unusedRoom() {
        var buffer = TextBuffer()
        buffer.append(room: 1000) { $0.append(UInt8(ascii: "a")) }
        buffer.append(room: 0) { _ in }
        buffer.append(room: 1) { $0.append(UInt8(ascii: "b")) }
        #expect(buffer.bytes == Array("ab".utf8))
    }

    @Test("after everything was removed, nothing of it comes back", arguments: lengths)
    func reuse(length: Int) {
        var buffer = TextBuffer()
        for count in Self.lengths.reversed() + [length] {
            let bytes = Self.sample(count, from: count)
            buffer.removeAll()
            #expect(buffer.count == 0)
            #expect(buffer.bytes == [])
            buffer.append(copying: bytes.span)
            #expect(buffer.bytes == bytes)
        }
    }

    @Test("bytes that are taken out leave an empty buffer", arguments: lengths)
    func take(length: Int) {
        var buffer = TextBuffer()
        #expect(buffer.takeBytes() == [])
        for bytes in [Self.sample(length), Self.sample(20), Self.sample(length, from: 9)] {
            buffer.append(copying: bytes.span)
            #expect(buffer.takeBytes() == bytes)
            #expect(buffer.count == 0)
            #expect(buffer.bytes == [])
        }
    }

    @Test("a copy is a buffer of its own")
    func copy() {
        var buffer = TextBuffer()
        buffer.append(copying: Self.sample(40).span)
        let copy = buffer
        buffer.removeAll()
        buffer.append(copying: Self.sample(40, from: 9).span)
        #expect(copy.bytes == Self.sample(40))
        #expect(buffer.bytes == Self.sample(40, from: 9))
    }

    // MARK: Constant texts

    @Test(
        "a constant text is written as it is, whatever follows",
        arguments: [
            ("", ""), ("a", "a"), ("0123456789abcde", "0123456789abcde"), ("0123456789abcdef", "0123456789abcdef"),
            ("0123456789abcdefg", "0123456789abcdefg"),
            ("0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcde"),
            ("0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"), ("\"ä\":", "\"ä\":"),
        ] as [(TextPiece, String)])
    func pieces(piece: TextPiece, text: String) {
        var buffer = TextBuffer()
        // Memory that already holds something else.
        buffer.append(copying: Self.sample(100).span)
        buffer.removeAll()
        buffer.append(room: 2 * text.utf8.count + 1) { output in
            output.append(piece)
            output.append(UInt8(ascii: "|"))
            output.append(piece)
        }
        #expect(Self.text(of: buffer) == "\(text)|\(text)")
    }

    // MARK: Strings

    @Test(
        "a string is written with the shortest escapes",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), ("sixteen bytes ok", #""sixteen bytes ok""#),
            ("\"", #""\"""#), ("\\", #""\\""#), ("/", #""/""#), ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{7}\u{B}\u{E}\u{1F}", #""\u0000\u0001\u0007\u000b\u000e\u001f""#),
            ("\u{7F}", "\"\u{7F}\""), ("ä€😀", "\"ä€😀\""), ("\u{2028}", "\"\u{2028}\""), ("\u{D7FF}", "\"\u{D7FF}\""),
            ("\u{E000}", "\"\u{E000}\""),
        ])
    func strings(text: String, written: String) {
        var buffer = TextBuffer()
        buffer.append(room: 6 * text.utf8.count + 2) { $0.append(jsonString: text.utf8.span) }
        #expect(Self.text(of: buffer) == written)
    }

    @Test("an escape is found at any place of a text of any length", arguments: [1, 7, 8, 9, 15, 16, 17, 31, 32, 33])
    func escapePlaces(length: Int) {
        for place in 0..<length {
            for (byte, escape) in [(UInt8(ascii: "\""), #"\""#), (0x0A, #"\n"#), (0x00, #"\u0000"#)] {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes[place] = byte
                var buffer = TextBuffer()
                buffer.append(room: 6 * length + 2) { $0.append(jsonString: bytes.span) }
                let (before, behind) = (String(repeating: "a", count: place), length - place - 1)
                let written = "\"\(before)\(escape)\(String(repeating: "a", count: behind))\""
                #expect(Self.text(of: buffer) == written, "\(byte) at \(place)")
            }
        }
    }

    @Test("nothing but escapes fits into six bytes each", arguments: lengths)
    func allEscaped(length: Int) {
        let bytes = [UInt8](repeating: 1, count: length)
        var buffer = TextBuffer()
        buffer.append(room: 6 * length + 2) { $0.append(jsonString: bytes.span) }
        #expect(Self.text(of: buffer) == "\"\(String(repeating: #"\u0001"#, count: length))\"")
    }

    @Test(
        "a lone surrogate is escaped, what only begins like one is not",
        arguments: [
            ([0xED, 0xA0, 0x80], Array(#""\ud800""#.utf8)), ([0xED, 0xBF, 0xBF], Array(#""\udfff""#.utf8)),
            ([0x61, 0xED, 0xAB, 0x8D, 0x62], Array(#""a\udacdb""#.utf8)),
            ([0xED, 0x9F, 0xBF], [0x22, 0xED, 0x9F, 0xBF, 0x22]), ([0xED, 0xA0], [0x22, 0xED, 0xA0, 0x22]),
            ([0xED], [0x22, 0xED, 0x22]),
        ] as [([UInt8], [UInt8])])
    func surrogates(bytes: [UInt8], written: [UInt8]) {
        var buffer = TextBuffer()
        buffer.append(room: 6 * bytes.count + 2) { $0.append(jsonString: bytes.span) }
        #expect(buffer.bytes == written)
    }
}
