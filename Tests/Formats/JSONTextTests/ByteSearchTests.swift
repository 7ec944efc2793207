import JSONText
import Testing

@Suite struct ByteSearchTests {
    @Test("Bytes are ordered by the first byte that differs, at any index", arguments: 0..<40)
    func ordersBytes(_ prefixLength: Int) {
        for (low, high) in [(0x00, 0x01), (0x7F, 0x80), (0x61, 0x62), (0xFE, 0xFF)] as [(UInt8, UInt8)] {
            for rest in [0, 1, 7, 8, 9] {
                let prefix = [UInt8](repeating: 0x61, count: prefixLength)
                let left = prefix + [low] + [UInt8](repeating: 0xFF, count: rest)
                let right = prefix + [high] + [UInt8](repeating: 0x00, count: rest)
                #expect(left.span.ordered(against: right.span) < 0)
                #expect(right.span.ordered(against: left.span) > 0)
                #expect(left.span.ordered(against: left.span) == 0)
                #expect(prefix.span.ordered(against: left.span) < 0)
                #expect(left.span.ordered(against: prefix.span) > 0)
            }
        }
    }
}
