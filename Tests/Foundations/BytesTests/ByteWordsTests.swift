import Bytes
import Testing

@Suite struct ByteWordsTests {
    @Test("the first of several matching bytes is found at every index")
    func firstIndex() {
        for length in 0...40 {
            for first in 0..<length {
                for second in first..<length {
                    var bytes = [UInt8](repeating: 0x0B, count: length)
                    bytes[first] = 0x0A
                    bytes[second] = 0x0A
                    for start in 0...length {
                        let expected = bytes[start...].firstIndex(of: 0x0A)
                        #expect(
                            bytes.span.firstIndex(of: 0x0A, from: start) == expected,
                            "\(length) \(first) \(second) \(start)")
                    }
                }
            }
        }
    }

    @Test("bytes that differ in one bit do not match", arguments: [0x00, 0x0A, 0x7F, 0x80, 0xFF] as [UInt8])
    func similarBytes(_ byte: UInt8) {
        let others = (0..<8).map { byte ^ (1 << $0) }
        #expect((others + others).span.firstIndex(of: byte, from: 0) == nil)
        #expect((others + [byte, byte]).span.firstIndex(of: byte, from: 0) == 8)
        #expect(([byte &- 1] + others + [byte]).span.firstIndex(of: byte, from: 1) == 9)
    }

    @Test("spans are equal only if their counts and all bytes are equal", arguments: 0...40)
    func equality(_ length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37) }
        #expect(Self.areEqual(bytes, bytes.map { $0 }))
        let longer = bytes + [0]
        #expect(!Self.areEqual(bytes, longer) && !Self.areEqual(longer, bytes))
        for index in 0..<length {
            for bit in [0, 7] {
                var other = bytes
                other[index] ^= 1 << bit
                #expect(!Self.areEqual(bytes, other), "\(index) \(bit)")
            }
        }
    }

    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.span.equals(right.span) }

    @Test("eight bytes are read as a little-endian number")
    func word() {
        let bytes: [UInt8] = [0xAA, 1, 2, 3, 4, 5, 6, 7, 0x88]
        #expect(bytes.span.word(at: 0) == 0x0706_0504_0302_01AA)
        #expect(bytes.span.word(at: 1) == 0x8807_0605_0403_0201)
        let span = bytes.span
        let words = (-1...2).map { span.wordIfPresent(at: $0) }
        #expect(words == [nil, 0x0706_0504_0302_01AA, 0x8807_0605_0403_0201, nil])
    }
}
