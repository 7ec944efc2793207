import JSONText
import Testing

@Suite struct DecimalIntegerTests {
    private static let texts: [(String, Int64?)] = [
        ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("999999999999999999", 999_999_999_999_999_999),
        ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
        ("-9223372036854775809", nil), ("9999999999999999999", nil), ("18446744073709551617", nil),
        ("99999999999999999999999", nil), ("", nil), ("-", nil), ("--1", nil), ("1-", nil), ("1.0", nil), ("1e3", nil),
    ]

    @Test("Integers are parsed up to the bounds of Int64", arguments: texts)
    func parsesIntegersWithinBounds(text: String, value: Int64?) {
        let read = Int64(decimal: text.utf8.span)
        #expect(read == value)
    }
}
