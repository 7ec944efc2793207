import JSONText
import Testing

@Suite struct StringReadingTests {
    @Test(arguments: [
        Row(#""""#, #""""#), Row(#""a""#, #""a""#), Row("\"\u{7F}\"", "\"\u{7F}\""),
        Row(#""\"\\\/\b\f\n\r\t""#, #""\"\\/\b\f\n\r\t""#),
        Row(#""\u0041\u00e9\u20AC\uFFFF\u0000""#, "\"Aé€\u{FFFF}\\u0000\""),
        Row(#""\ud83d\ude00""#, "\"😀\""), Row(#""\uDBFF\uDFFF""#, "\"\u{10FFFF}\""),
        Row(#""\ud7ff\ue000""#, "\"\u{D7FF}\u{E000}\""),
        Row(#""plain then \u0022 and \\ then plain""#, #""plain then \" and \\ then plain""#),
        Row("\"é€😀\"", "\"é€😀\""),
        Row("\"\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\"", "\"\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\""),
    ])
    func resolvesEscapes(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row(#"""#, .unexpectedEnd, at: 1), Row(#""abc"#, .unexpectedEnd, at: 4),
        Row(#""abcdefgh"#, .unexpectedEnd, at: 9), Row(#""\"#, .unexpectedEnd, at: 2),
        Row(#""\""#, .unexpectedEnd, at: 3), Row(#""\u"#, .unexpectedEnd, at: 3),
        Row(#""\u00"#, .unexpectedEnd, at: 5), Row(#""\ud83d\"#, .unpairedSurrogate, at: 1),
        Row(#""\ud83d\u"#, .unexpectedEnd, at: 9), Row(#""\ud83d\ude0"#, .unexpectedEnd, at: 12),
        Row(#""\x41""#, .invalidEscape, at: 2), Row(#""\'""#, .invalidEscape, at: 2),
        Row(#""\N""#, .invalidEscape, at: 2), Row(#""\U0041""#, .invalidEscape, at: 2),
        Row(#""\u004G""#, .invalidEscape, at: 6), Row(#""\u 041""#, .invalidEscape, at: 3),
        Row(#""\u+041""#, .invalidEscape, at: 3), Row(#""\u00""#, .invalidEscape, at: 5),
        Row(#""\u{41}""#, .invalidEscape, at: 3), Row(#"'a'"#, .unexpectedByte, at: 0),
    ])
    func rejectsMalformedEscapesAndUnterminatedStrings(_ row: Row) {
        row.check()
    }

    @Test("Escaped slashes are read in strings of any length")
    func readsEscapedSlashes() {
        for count in [0, 1, 2, 7, 8, 9, 63, 64, 65, 200] {
            for between in ["", "a", "abcdefg", "abcdefgh", "abcdefghijklmnop", "é", #"\n"#, #"\u0041"#] {
                let escaped = String(repeating: #"\/"# + between, count: count)
                let plain = String(repeating: "/" + between.replacing(#"\u0041"#, with: "A"), count: count)
                Row("\"\(escaped)\"", "\"\(plain)\"").check()
                Row("\"\(escaped)end\"", "\"\(plain)end\"").check()
                // The string is truncated or followed by an invalid escape.
                Row("\"\(escaped)", .unexpectedEnd, at: escaped.utf8.count + 1).check()
                Row("\"\(escaped)\\", .unexpectedEnd, at: escaped.utf8.count + 2).check()
                Row("\"\(escaped)\\x\"", .invalidEscape, at: escaped.utf8.count + 2).check()
            }
        }
    }

    @Test(arguments: 0..<0x20)
    func rejectsUnescapedControlCharacters(_ control: Int) {
        for lead in 0..<18 {
            let text =
                Array("\"".utf8) + Array(repeating: 0x61, count: lead) + [UInt8(control)] + Array("b\"".utf8)
            Row(text, .controlCharacter, at: lead + 1).check()
        }
    }

    /// Sequences just outside each range of the Unicode Standard, table 3-7.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x7F], [0xC2, 0xC0], [0xDF, 0x20],
            [0xE0, 0x9F, 0xBF], [0xE0, 0x80, 0x80], [0xE1, 0x80], [0xE1, 0x80, 0x7F], [0xE1, 0xC0, 0x80],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80],
            [0xF0, 0x90, 0x80, 0xC0], [0xF1, 0x80, 0x7F, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func rejectsMalformedUTF8AtItsStart(_ bytes: [UInt8]) {
        for lead in 0..<10 {
            let before = Array(repeating: UInt8(ascii: "a"), count: lead)
            Row([0x22] + before + bytes + [0x22], .invalidUTF8, at: lead + 1).check()
            Row([0x22] + before + bytes, .invalidUTF8, at: lead + 1).check()
            Row(Array(#""\n"#.utf8) + before + bytes + [0x22], .invalidUTF8, at: lead + 3).check()
        }
    }

    @Test func readsScalarsEscapedAndUnescaped() throws {
        var unescaped = "\""
        var escaped = "\""
        for scalar in (UInt32(0x20)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init)
        where scalar.value % 7 == 0 || scalar.value < 0x1000 {
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            unescaped += scalar == "\"" || scalar == "\\" ? "\\" + String(scalar) : String(scalar)
        }
        let plain = try JSONDocument(unescaped + "\"")
        let resolved = try JSONDocument(escaped + "\"")
        #expect(plain.string(of: plain.root) == resolved.string(of: resolved.root))
        #expect(plain.canonical == unescaped + "\"")
        #expect(resolved.canonical == unescaped + "\"")
    }

    @Test(arguments: 0..<40)
    func findsEndOfStringsOfAnyLength(_ length: Int) throws {
        for end in ["\"", "\\n\"", "é\""] {
            let text = "[\"" + String(repeating: "x", count: length) + end + ",1]"
            #expect(try JSONDocument(text).canonical == text)
        }
    }

    @Test func returnsStringsWithoutEscapes() throws {
        let document = try JSONDocument(#"["a\tb","plain"]"#)
        let elements = document.elements(of: document.root)
        #expect(document.string(of: elements[0]) == "a\tb")
        #expect(document.string(of: elements[1]) == "plain")
    }
}
