import JSONText
import TestSupport
import Testing

@Suite struct CanonicalWritingTests {
    @Test(arguments: [
        Row(#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#), Row(#"{"aa":1,"a":2,"":3}"#, #"{"":3,"a":2,"aa":1}"#),
        Row(#"{"a":1,"B":2,"_":3,"1":4}"#, #"{"1":4,"B":2,"_":3,"a":1}"#),
        Row(#"{"10":1,"9":2}"#, #"{"10":1,"9":2}"#),
        Row(
            #"{"12345678b":1,"12345678a":2,"12345678":3,"1234567":4}"#,
            #"{"1234567":4,"12345678":3,"12345678a":2,"12345678b":1}"#),
        Row(#"{"b":{"d":1,"c":2},"a":[{"f":1,"e":2}]}"#, #"{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}"#),
    ])
    func sortsKeysByUTF8(_ row: Row) {
        row.check()
    }

    /// The order of UTF-16, which RFC 8785 specifies, would be the reverse.
    @Test func sortsByUTF8NotByUTF16() {
        Row("{\"\u{10000}\":1,\"\u{FFFD}\":2}", "{\"\u{FFFD}\":2,\"\u{10000}\":1}").check()
    }

    @Test func sortsByResolvedKeys() {
        Row(#"{"\u0062":1,"a":2,"\u0041":3}"#, #"{"A":3,"a":2,"b":1}"#).check()
    }

    @Test(arguments: [0, 1, 2, 39, 40, 41, 42, 500])
    func sortsObjectsOfAnySize(_ count: Int) throws {
        var random = SeededGenerator(seed: 11)
        let keys = (0..<count).map { "key \($0 * 7 % 1000)" }.shuffled(using: &random)
        let text = "{" + keys.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ", ") + "}"
        let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let expected = "{" + sorted.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"
        #expect(try JSONDocument(text).canonical == expected)
    }

    @Test(arguments: 0..<0x20)
    func writesControlCharactersWithShortestEscapes(_ control: Int) throws {
        let digits = String(control, radix: 16)
        let long = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        let short = [8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"][control] ?? long
        #expect(
            try JSONDocument("\"\(long.uppercased().replacing("\\U", with: "\\u"))\"").canonical
                == "\"\(short)\"")
        var output: [UInt8] = []
        output.append(jsonString: String(UnicodeScalar(UInt8(control))))
        #expect(output == Array("\"\(short)\"".utf8))
    }

    @Test func escapesOnlyRequiredCharacters() {
        var output = Array("x".utf8)
        output.append(jsonString: "a/b\"c\\d\u{7F}\u{2028}é😀")
        #expect(String(decoding: output, as: UTF8.self) == "x\"a/b\\\"c\\\\d\u{7F}\u{2028}é😀\"")
    }

    @Test func writesMalformedUTF8WithoutTrapping() {
        var output: [UInt8] = []
        output.append(jsonString: ([0xED, 0xFF, 0xFF, 0xED, 0xA0] as [UInt8]).span)
        #expect(output == Array(#""\udfff"#.utf8) + [0xED, 0xA0, 0x22])
    }

    @Test func appendsToExistingBytes() throws {
        let document = try JSONDocument(#"{"a":[1,2],"b":"x"}"#)
        var output = Array("data: ".utf8)
        document.write(try document.at("a"), to: &output)
        document.write(try document.at("b"), to: &output)
        document.write(document.root, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == #"data: [1,2]"x"{"a":[1,2],"b":"x"}"#)
    }
}
