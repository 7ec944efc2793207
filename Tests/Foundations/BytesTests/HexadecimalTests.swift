import Bytes
import Testing

@Suite struct HexadecimalTests {
    @Test(arguments: [("0", 0), ("9", 9), ("a", 10), ("f", 15), ("A", 10), ("F", 15)] as [(String, UInt8)])
    func digitValues(digit: String, value: UInt8) {
        #expect(digit.utf8.map(\.hexadecimalValue) == [value])
    }

    @Test(arguments: ["/", ":", "@", "G", "`", "g", " ", "\u{0}"])
    func otherBytesHaveNoValue(text: String) {
        #expect(text.utf8.map(\.hexadecimalValue) == [nil])
    }

    @Test func bytesAreFormattedInLowercase() {
        #expect([0x00, 0x0F, 0xA0, 0xFF].hex == "000fa0ff")
        #expect([UInt8]().hex.isEmpty)
    }
}
