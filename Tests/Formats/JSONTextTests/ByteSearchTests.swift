import JSONText
import Testing

@Suite struct ByteSearchTests {
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
}
