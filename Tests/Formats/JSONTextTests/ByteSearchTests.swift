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

    @Test("bytes that differ in one bit are others", arguments: [0x00, 0x0A, 0x7F, 0x80, 0xFF] as [UInt8])
    func likeOnes(_ byte: UInt8) {
        let others = (0..<8).map { byte ^ (1 << $0) }
        #expect((others + others).span.firstIndex(of: byte, from: 0) == nil)
        #expect((others + [byte, byte]).span.firstIndex(of: byte, from: 0) == 8)
        #expect(([byte &- 1] + others + [byte]).span.firstIndex(of: byte, from: 1) == 9)
    }
}
