import JSONText
import Testing

@Suite struct SurrogateTests {
    @Test(arguments: [
        Row(#""\ud800""#, .unpairedSurrogate, at: 1), Row(#""\udc00""#, .unpairedSurrogate, at: 1),
        Row(#""\uDFFF""#, .unpairedSurrogate, at: 1), Row(#""ab\ud800cd""#, .unpairedSurrogate, at: 3),
        Row(#""\ud800\ud800\udc00""#, .unpairedSurrogate, at: 1),
        Row(#""\ud83d\ude00\ude00""#, .unpairedSurrogate, at: 13),
        Row(#""\udc00\ud800""#, .unpairedSurrogate, at: 1), Row(#""\ud800\n""#, .unpairedSurrogate, at: 1),
        Row(#""\ud800\u0041""#, .unpairedSurrogate, at: 1), Row(#"{"\ud800":1}"#, .unpairedSurrogate, at: 2),
        Row(#""\ud800"#, .unpairedSurrogate, at: 1),
    ])
    func rejectsLoneSurrogatesAtTheirEscape(_ row: Row) {
        row.check()
        row.check(.lastWins)
    }

    @Test(arguments: [
        Row(#""\ud800""#, #""\ud800""#), Row(#""\uDFFF""#, #""\udfff""#), Row(#""a\uDBFFb""#, #""a\udbffb""#),
        Row(#""\udc00\ud800""#, #""\udc00\ud800""#), Row(#""\ud800\n""#, #""\ud800\n""#),
        Row(#""\ud800\u0041""#, #""\ud800A""#), Row(#""\ud800x\udc00""#, #""\ud800x\udc00""#),
        Row(#"{"\ud800":"\udc00"}"#, #"{"\ud800":"\udc00"}"#),
    ])
    func keepsLoneSurrogatesIfPolicyAllows(_ row: Row) {
        row.check(.keepingSurrogates)
        Row(row.text, row.outcome.text).check(.lenient)
    }

    @Test(arguments: [
        Row(#""\ud800\udc00""#, "\"\u{10000}\""), Row(#""\ud800\ud800\udc00""#, "\"\\ud800\u{10000}\""),
        Row(#""\ud800\udc00\udc00""#, "\"\u{10000}\\udc00\""), Row(#""\ud83d\ude00""#, "\"😀\""),
        Row(#""\ud800\ud800\ud800\udc00\udc00""#, "\"\\ud800\\ud800\u{10000}\\udc00\""),
    ])
    func combinesAdjacentSurrogates(_ row: Row) {
        row.check(.keepingSurrogates)
    }

    @Test(arguments: [
        Row(#""\ud800\u00""#, .invalidEscape, at: 11), Row(#""\ud800\u"#, .unexpectedEnd, at: 9),
        Row(#""\ud800\x""#, .invalidEscape, at: 8), Row(#""\ud800"#, .unexpectedEnd, at: 7),
        Row([0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8, at: 1),
        Row([0x22, 0x5C, 0x6E, 0xED, 0xB0, 0x80, 0x22], .invalidUTF8, at: 3),
    ])
    func rejectsOtherErrorsWhenKeepingSurrogates(_ row: Row) {
        row.check(.keepingSurrogates)
    }

    @Test func sortsAndComparesKeysWithLoneSurrogates() {
        Row(#"{"\ue000":1,"\ud800":2,"z":3,"😀":4}"#, "{\"z\":3,\"\\ud800\":2,\"\u{E000}\":1,\"😀\":4}")
            .check(.keepingSurrogates)
        Row(#"{"\ud800":1,"\uD800":2}"#, .duplicateKey, at: 12).check(.keepingSurrogates)
        Row(#"{"\ud800":1,"\uD800":2}"#, #"{"\ud800":2}"#).check(.lenient)
    }

    @Test func writesLoneSurrogatesAsEscapes() throws {
        for unit in 0xD800...0xDFFF {
            let text = "[\"\\u\(String(unit, radix: 16))\"]"
            #expect(try JSONDocument(text, policy: .keepingSurrogates).canonical == text)
        }
    }

    @Test func storesLoneSurrogatesAsWTF8() throws {
        let document = try JSONDocument(#""a\ud800""#, policy: .keepingSurrogates)
        #expect(document.bytes(of: document.root).copied() == [0x61, 0xED, 0xA0, 0x80])
        #expect(document.string(of: document.root) == "a\u{FFFD}\u{FFFD}\u{FFFD}")
    }
}

extension Outcome {
    /// The canonical form, or an empty string for an error.
    fileprivate var text: String {
        if case .value(let bytes) = self { return String(decoding: bytes, as: UTF8.self) }
        return ""
    }
}
