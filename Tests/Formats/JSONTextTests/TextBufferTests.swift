import Bytes
import Testing

@testable import JSONText

/// Tests that `TextWriter`, which stores up to sixteen bytes at a time, appends only the requested bytes.
///
/// The excess bytes must not appear in the buffer.
@Suite struct TextBufferTests {
    /// Lengths around one and two stores of sixteen bytes.
    private static let lengths = [0, 1, 2, 7, 8, 9, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49, 255, 256, 257]

    /// Returns distinct bytes.
    ///
    /// None of them is 0, which is the value of new memory.
    private static func sample(_ count: Int, from first: Int = 1) -> [UInt8] {
        (0..<count).map { UInt8(($0 + first) % 251 + 1) }
    }

    private static func isSample(_ buffer: TextBuffer, of count: Int) -> Bool {
        buffer.span.equals(sample(count).span)
    }

    private static func text(of buffer: TextBuffer) -> String { String(decoding: buffer.bytes, as: UTF8.self) }

    @Test("A new buffer is empty")
    func createsEmptyBuffer() {
        let buffer = TextBuffer()
        #expect(buffer.count == 0)
        #expect(buffer.bytes == [])
        #expect(Array(buffer[0..<0]) == [])
    }

    @Test("The span contains the bytes that were not removed")
    func accessesBytes() {
        var buffer = TextBuffer(Self.sample(20))
        #expect(Self.isSample(buffer, of: 20))
        buffer.removeAll(from: 5)
        #expect(Self.isSample(buffer, of: 5))
        #expect(buffer.capacity >= 20)
        buffer.removeAll()
        #expect(Self.isSample(buffer, of: 0))
    }

    @Test("Any number of bytes is appended unchanged", arguments: lengths)
    func appendsBytes(length: Int) {
        let bytes = Self.sample(length)
        var buffer = TextBuffer()
        buffer.append(copying: bytes.span)
        #expect(buffer.count == length)
        #expect(buffer.bytes == bytes)
        buffer.append(copying: bytes.span)
        #expect(buffer.bytes == bytes + bytes)
        #expect(Array(buffer[length..<2 * length]) == bytes)
    }

    @Test("The excess bytes of a store are overwritten by the next bytes", arguments: lengths)
    func overwritesExcessBytesOfStores(length: Int) {
        var buffer = TextBuffer()
        var expected: [UInt8] = []
        for other in Self.lengths {
            let (first, second) = (Self.sample(length), Self.sample(other, from: 100))
            buffer.append(atMost: length + other + 1) { output in
                output.append(copying: first.span)
                output.append(UInt8(ascii: "|"))
                output.append(copying: second.span)
            }
            expected += first + [UInt8(ascii: "|")] + second
        }
        #expect(buffer.bytes == expected)
    }

    @Test(
        "Any range of bytes is appended, including ranges at either end", arguments: [0, 1, 15, 16, 17, 31, 32, 33, 50])
    func appendsRanges(length: Int) {
        let bytes = Self.sample(length)
        for start in 0...length {
            for end in start...length {
                var buffer = TextBuffer()
                buffer.append(atMost: end - start) {
                    $0.append(copying: bytes.span, from: UInt32(start), to: UInt32(end))
                }
                #expect(buffer.bytes == Array(bytes[start..<end]), "\(start)..<\(end)")
            }
        }
    }

    @Test("The count of the writer includes existing bytes")
    func continuesCount() {
        var buffer = TextBuffer()
        buffer.append(copying: Self.sample(20).span)
        var counts: [Int] = []
        buffer.append(atMost: 36) { output in
            counts.append(output.count)
            output.append(UInt8(ascii: "x"))
            counts.append(output.count)
            output.append("äé" as String)
            counts.append(output.count)
            output.append("constant" as ConstantText)
            counts.append(output.count)
        }
        #expect(counts == [20, 21, 25, 33])
        #expect(buffer.count == 33)
        #expect(buffer.bytes == Self.sample(20) + Array("xäéconstant".utf8))
    }

    @Test("Unused capacity is not part of the buffer")
    func ignoresUnusedCapacity() {
        var buffer = TextBuffer()
        buffer.append(atMost: 1000) { $0.append(UInt8(ascii: "a")) }
        buffer.append(atMost: 0) { _ in }
        buffer.append(atMost: 1) { $0.append(UInt8(ascii: "b")) }
        #expect(buffer.bytes == Array("ab".utf8))
    }

    @Test("Removed bytes do not reappear", arguments: lengths)
    func removesAllBytes(length: Int) {
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

    @Test("Taking the bytes leaves an empty buffer", arguments: lengths)
    func takesBytes(length: Int) {
        var buffer = TextBuffer()
        #expect(buffer.takeBytes() == [])
        for bytes in [Self.sample(length), Self.sample(20), Self.sample(length, from: 9)] {
            buffer.append(copying: bytes.span)
            #expect(buffer.takeBytes() == bytes)
            #expect(buffer.count == 0)
            #expect(buffer.bytes == [])
        }
    }

    @Test("A copy is independent of the original")
    func copiesAreIndependent() {
        var buffer = TextBuffer()
        buffer.append(copying: Self.sample(40).span)
        let copy = buffer
        buffer.removeAll()
        buffer.append(copying: Self.sample(40, from: 9).span)
        #expect(copy.bytes == Self.sample(40))
        #expect(buffer.bytes == Self.sample(40, from: 9))
    }

    // MARK: Constant strings

    @Test(
        "A constant string is written unchanged",
        arguments: [
            ("", ""), ("a", "a"), ("0123456789abcde", "0123456789abcde"), ("0123456789abcdef", "0123456789abcdef"),
            ("0123456789abcdefg", "0123456789abcdefg"),
            ("0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcde"),
            ("0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"), ("\"ä\":", "\"ä\":"),
        ] as [(ConstantText, String)])
    func writesConstantStrings(piece: ConstantText, text: String) {
        var buffer = TextBuffer()
        // Fill the memory with other bytes.
        buffer.append(copying: Self.sample(100).span)
        buffer.removeAll()
        buffer.append(atMost: 2 * text.utf8.count + 1) { output in
            output.append(piece)
            output.append(UInt8(ascii: "|"))
            output.append(piece)
        }
        #expect(Self.text(of: buffer) == "\(text)|\(text)")
    }

    // MARK: Strings

    @Test(
        "A string is written with the shortest escapes",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), ("sixteen bytes ok", #""sixteen bytes ok""#),
            ("\"", #""\"""#), ("\\", #""\\""#), ("/", #""/""#), ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{7}\u{B}\u{E}\u{1F}", #""\u0000\u0001\u0007\u000b\u000e\u001f""#),
            ("\u{7F}", "\"\u{7F}\""), ("ä€😀", "\"ä€😀\""), ("\u{2028}", "\"\u{2028}\""), ("\u{D7FF}", "\"\u{D7FF}\""),
            ("\u{E000}", "\"\u{E000}\""),
        ])
    func writesStrings(text: String, written: String) {
        var buffer = TextBuffer()
        buffer.append(atMost: 6 * text.utf8.count + 2) { $0.append(jsonString: text.utf8.span) }
        #expect(Self.text(of: buffer) == written)
    }

    @Test("A character that needs an escape is found at any index", arguments: [1, 7, 8, 9, 15, 16, 17, 31, 32, 33])
    func findsEscapes(length: Int) {
        for index in 0..<length {
            for (byte, escape) in [(UInt8(ascii: "\""), #"\""#), (0x0A, #"\n"#), (0x00, #"\u0000"#)] {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes[index] = byte
                var buffer = TextBuffer()
                buffer.append(atMost: 6 * length + 2) { $0.append(jsonString: bytes.span) }
                let (before, after) = (String(repeating: "a", count: index), length - index - 1)
                let written = "\"\(before)\(escape)\(String(repeating: "a", count: after))\""
                #expect(Self.text(of: buffer) == written, "\(byte) at \(index)")
            }
        }
    }

    @Test("Escapes take at most six bytes each", arguments: lengths)
    func escapesAllBytes(length: Int) {
        let bytes = [UInt8](repeating: 1, count: length)
        var buffer = TextBuffer()
        buffer.append(atMost: 6 * length + 2) { $0.append(jsonString: bytes.span) }
        #expect(Self.text(of: buffer) == "\"\(String(repeating: #"\u0001"#, count: length))\"")
    }

    @Test(
        "A lone surrogate is escaped, but not a sequence that only begins like one",
        arguments: [
            ([0xED, 0xA0, 0x80], Array(#""\ud800""#.utf8)), ([0xED, 0xBF, 0xBF], Array(#""\udfff""#.utf8)),
            ([0x61, 0xED, 0xAB, 0x8D, 0x62], Array(#""a\udacdb""#.utf8)),
            ([0xED, 0x9F, 0xBF], [0x22, 0xED, 0x9F, 0xBF, 0x22]), ([0xED, 0xA0], [0x22, 0xED, 0xA0, 0x22]),
            ([0xED], [0x22, 0xED, 0x22]),
        ] as [([UInt8], [UInt8])])
    func escapesLoneSurrogates(bytes: [UInt8], written: [UInt8]) {
        var buffer = TextBuffer()
        buffer.append(atMost: 6 * bytes.count + 2) { $0.append(jsonString: bytes.span) }
        #expect(buffer.bytes == written)
    }
}
