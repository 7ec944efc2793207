import JSONText
import Testing

@Suite struct NumberTextTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: [
        ("0", true), ("-0", true), ("12", true), ("-9223372036854775809", true), ("1.0", false),
        ("1e2", false),
        ("1E2", false), ("-1.5", false),
    ])
    func plainIntegersHaveNoFractionOrExponent(_ text: String, _ expected: Bool) {
        #expect(JSONNumberText.isPlainInteger(bytes(text).span) == expected)
    }

    @Test(arguments: [
        ("-1", true), ("-0.001", true), ("-1e-400", true), ("0", false), ("-0", false), ("-0.000", false),
        ("-0e5", false), ("-0.0E9", false), ("5", false), ("1e-5", false), ("", false),
    ])
    func onlyNumbersBelowZeroAreNegative(_ text: String, _ expected: Bool) {
        #expect(JSONNumberText.isNegative(bytes(text).span) == expected)
    }

    @Test(
        arguments: [
            ("7", "7"), ("7.0", "7"), ("-7.000", "-7"), ("1.5e3", "1500"), ("15e-1", nil), ("150e-1", "15"),
            ("0.0", "0"),
            ("-0", "0"), ("0e999999999999999999999", "0"), ("0.001e3", "1"), ("1200", "1200"), ("1.5", nil),
            ("18446744073709551617", "18446744073709551617"), ("9007199254740993.0", "9007199254740993"),
            ("1e63", "1" + String(repeating: "0", count: 63)), ("1e64", nil), ("1e99999999999999999999", nil),
            ("1e-99999999999999999999", nil), ("abc", nil), ("", nil),
        ] as [(String, String?)])
    func convertsIntegersExactly(_ text: String, _ expected: String?) {
        #expect(JSONNumberText.integer(from: bytes(text).span) == expected.map(bytes))
    }

    @Test(
        arguments: [
            ("7", 7), ("007", 7), ("-7", -7), ("7.0", 7), ("1.5e3", 1500), ("1.497595093902E12", 1_497_595_093_902),
            ("9223372036854775807", .max), ("9.223372036854775808e18", nil), ("-9223372036854775808", .min),
            ("1.5", nil), ("1e400", nil), ("1e-1", nil), ("007.0", nil), ("+7", nil), ("", nil), ("0x7", nil),
        ] as [(String, Int64?)])
    func readsIntegersInAnyNotation(_ text: String, _ expected: Int64?) {
        #expect(Int64(integerValueOf: bytes(text).span) == expected)
    }

    @Test(arguments: [
        ("0", "", 0, false), ("12", "12", 2, false), ("-1.20", "12", 1, true), ("0.012", "12", -1, false),
        ("1e3", "1", 4, false), ("1200", "12", 4, false), ("12e-5", "12", -3, false), ("-0.0", "", 0, true),
        ("1e2000000", "1", 1_000_000, false), ("1e-2000000", "1", -1_000_000, false),
    ])
    func splitsNumbers(_ text: String, _ digits: String, _ point: Int, _ isNegative: Bool) throws {
        let found = DecimalParts(bytes(text).span)
        let parts = try #require(found)
        #expect(parts.digits == bytes(digits))
        #expect(parts.pointPosition == point)
        #expect(parts.isNegative == isNegative)
    }

    @Test(arguments: [
        "", "-", ".", "5.", ".5", "-.5", "05", "-00", "1e", "1e+", "1e+-1", "1.2.3", "1x", "e5", "+1",
        "1e5.0", " 1",
    ])
    func rejectsMalformedNumbers(_ text: String) {
        #expect(DecimalParts(bytes(text).span) == nil)
    }

    /// The exponent compensates for a large number of digits.
    @Test func limitsHoldForManyDigits() {
        let zeros = String(repeating: "0", count: 2_000_000)
        #expect(JSONNumberText.integer(from: bytes("1\(zeros)e-2000000").span) == bytes("1"))
        #expect(JSONNumberText.integer(from: bytes("1\(zeros)e-2000001").span) == nil)
        #expect(JSONNumberText.integer(from: bytes("1\(zeros)e-3000000").span) == nil)
        #expect(JSONNumberText.integer(from: bytes("0.\(zeros)1e2000001").span) == bytes("1"))
        #expect(JSONNumberText.integer(from: bytes("0.\(zeros)1e1000001").span) == nil)
    }
}
