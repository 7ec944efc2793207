import JSONText
import Testing

@Suite struct ByteSearchTests {
    @Test("a byte is found wherever it stands, the first one of several")
    func everyPlace() {
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

    @Test("texts are ordered by their first different byte, wherever it stands", arguments: 0..<40)
    func order(_ place: Int) {
        for (low, high) in [(0x00, 0x01), (0x7F, 0x80), (0x61, 0x62), (0xFE, 0xFF)] as [(UInt8, UInt8)] {
            for rest in [0, 1, 7, 8, 9] {
                let same = [UInt8](repeating: 0x61, count: place)
                let left = same + [low] + [UInt8](repeating: 0xFF, count: rest)
                let right = same + [high] + [UInt8](repeating: 0x00, count: rest)
                #expect(left.span.ordered(against: right.span) < 0)
                #expect(right.span.ordered(against: left.span) > 0)
                #expect(left.span.ordered(against: left.span) == 0)
                #expect(same.span.ordered(against: left.span) < 0)
                #expect(left.span.ordered(against: same.span) > 0)
            }
        }
    }

    @Test("bytes that differ in one bit are others", arguments: [0x00, 0x0A, 0x7F, 0x80, 0xFF] as [UInt8])
    func likeOnes(_ byte: UInt8) {
        let others = (0..<8).map { byte ^ (1 << $0) }
        #expect((others + others).span.firstIndex(of: byte, from: 0) == nil)
        #expect((others + [byte, byte]).span.firstIndex(of: byte, from: 0) == 8)
        #expect(([byte &- 1] + others + [byte]).span.firstIndex(of: byte, from: 1) == 9)
    }
}
