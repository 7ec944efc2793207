import JSONText
import Testing

@Suite struct ScalarReadingTests {
    @Test(arguments: [
        Row("null", "null"), Row("true", "true"), Row("false", "false"),
        Row(" \t\r\n null \t\r\n", "null"),
        Row("nul", .unexpectedEnd, at: 3), Row("t", .unexpectedEnd, at: 1),
        Row("nulL", .unexpectedByte, at: 3), Row("tRue", .unexpectedByte, at: 1),
        Row("True", .unexpectedByte, at: 0), Row("NaN", .unexpectedByte, at: 0),
        Row("Infinity", .unexpectedByte, at: 0), Row("undefined", .unexpectedByte, at: 0),
        Row("nulll", .trailingBytes, at: 4), Row("truefalse", .trailingBytes, at: 4),
        Row("true 1", .trailingBytes, at: 5),
    ])
    func readsLiterals(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row("0", "0"), Row("-0", "-0"), Row("7", "7"), Row("-12", "-12"), Row("0.0", "0.0"),
        Row("1.50", "1.50"), Row("1e5", "1e5"), Row("1E+05", "1E+05"), Row("-1.0e-00", "-1.0e-00"),
        Row("9223372036854775807", "9223372036854775807"),
        Row("18446744073709551616", "18446744073709551616"),
        Row("123456789012345678901234567890.1234567890", "123456789012345678901234567890.1234567890"),
        Row("1e999999", "1e999999"),
    ])
    func keepsTextOfNumbers(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row("-", .unexpectedEnd, at: 1), Row("1.", .unexpectedEnd, at: 2), Row("1e", .unexpectedEnd, at: 2),
        Row("1e+", .unexpectedEnd, at: 3), Row("01", .invalidNumber, at: 1),
        Row("-01", .invalidNumber, at: 2),
        Row("00", .invalidNumber, at: 1), Row("--1", .invalidNumber, at: 1), Row("-a", .invalidNumber, at: 1),
        Row("1.e3", .invalidNumber, at: 2), Row("1ee3", .invalidNumber, at: 2),
        Row("1e+-3", .invalidNumber, at: 3), Row("[1.]", .invalidNumber, at: 3),
        Row("+1", .unexpectedByte, at: 0), Row(".5", .unexpectedByte, at: 0),
        Row("1.2.3", .trailingBytes, at: 3), Row("1e2.3", .trailingBytes, at: 3),
        Row("0x10", .trailingBytes, at: 1),
        Row("1_000", .trailingBytes, at: 1), Row("-Infinity", .invalidNumber, at: 1),
        Row("[1 2]", .unexpectedByte, at: 3), Row("\u{0661}", .unexpectedByte, at: 0),
    ])
    func rejectsMalformedNumbers(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row("", .empty, at: 0), Row("  ", .empty, at: 2), Row("\n\t\r ", .empty, at: 4),
        Row("         ", .empty, at: 9),
        Row([0], .unexpectedByte, at: 0), Row([0xEF, 0xBB, 0xBF, 0x31], .unexpectedByte, at: 0),
        Row("\u{A0}1", .unexpectedByte, at: 0), Row("\u{0B}1", .unexpectedByte, at: 0),
        Row("\u{0C}1", .unexpectedByte, at: 0), Row([0xFF], .unexpectedByte, at: 0),
        Row("/**/1", .unexpectedByte, at: 0), Row([0x31, 0], .trailingBytes, at: 1),
    ])
    func rejectsTextsWithoutValue(_ row: Row) {
        row.check()
    }

    @Test(arguments: 0..<20)
    func skipsWhitespaceOfAnyLength(_ count: Int) {
        let space = String(repeating: " ", count: count)
        Row("\(space)[\(space)1\(space),\n\(space)\t\(space)2\r\n\(space)]\(space)", "[1,2]").check()
        Row("[1,\n\(space)x]", .unexpectedByte, at: 4 + count).check()
    }

    @Test func errorsDescribeFaultAndOffset() {
        #expect(JSONError(.invalidNumber, at: 7).description == "malformed number at byte 7")
    }
}
