import JSONText
import Testing

@Suite struct DuplicateKeyTests {
    @Test(arguments: [
        Row(#"{"a":1,"a":1}"#, .duplicateKey, at: 7), Row(#"{"a":1,"b":2,"a":3}"#, .duplicateKey, at: 13),
        Row(#"{ "a" : 1 , "a" : 2 }"#, .duplicateKey, at: 12), Row(#"{"":1,"":2}"#, .duplicateKey, at: 6),
        Row(#"{"a":1,"a":2,"a":3}"#, .duplicateKey, at: 7),
        Row(#"[{"x":{"a":1,"a":2}}]"#, .duplicateKey, at: 13),
        Row(#"{"b":1,"b":2,"a":3,"a":4}"#, .duplicateKey, at: 7),
        Row(#"{"longer key 1":1,"longer key 2":2,"longer key 1":3}"#, .duplicateKey, at: 35),
    ])
    func reportsFirstRepeatedKey(_ row: Row) {
        row.check()
        row.check(.keepingSurrogates)
    }

    @Test(arguments: [
        Row(#"{"a":1,"\u0061":2}"#, .duplicateKey, at: 7), Row(#"{"\u0061":1,"a":2}"#, .duplicateKey, at: 12),
        Row(#"{"\/":"\n","\/":"\n"}"#, .duplicateKey, at: 11),
        Row(#"{"é":1,"\u00e9":2}"#, .duplicateKey, at: 8),
        Row(#"{"😀":1,"\ud83d\ude00":2}"#, .duplicateKey, at: 10),
    ])
    func comparesResolvedKeys(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row(#"{"a":1,"A":2}"#, #"{"A":2,"a":1}"#), Row(#"{"a":1,"a\u0000":2}"#, #"{"a":1,"a\u0000":2}"#),
        Row(#"{"":1,"\u0000":2,"\u0000\u0000":3}"#, #"{"":1,"\u0000":2,"\u0000\u0000":3}"#),
        Row(#"{"é":1,"e\u0301":2}"#, "{\"e\u{301}\":2,\"é\":1}"),
        Row(#"[{"a":1},{"a":1}]"#, #"[{"a":1},{"a":1}]"#),
        Row(#"{"a":{"a":{"a":1}}}"#, #"{"a":{"a":{"a":1}}}"#),
        Row(
            #"{"same first eight 1":1,"same first eight":2}"#,
            #"{"same first eight":2,"same first eight 1":1}"#),
    ])
    func distinguishesSimilarKeys(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row(#"{"a":1,"a":2}"#, #"{"a":2}"#), Row(#"{"a":1,"a":2,"a":3}"#, #"{"a":3}"#),
        Row(#"{"a":1,"b":2,"a":3,"c":4,"a":5,"b":6}"#, #"{"a":5,"b":6,"c":4}"#),
        Row(#"{"a":[1,{"a":1,"a":[]}],"a":{"a":1,"a":{}}}"#, #"{"a":{"a":{}}}"#),
        Row(#"{"a":{"x":1},"\u0061":null}"#, #"{"a":null}"#), Row(#"{"":1,"":2}"#, #"{"":2}"#),
    ])
    func keepsLastValueIfPolicyAllows(_ row: Row) {
        row.check(.lastWins)
    }

    @Test func keepsLastValueInLargeObjects() throws {
        let members = (0..<900).map { "\"key \($0 % 300)\":\($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        let document = try JSONDocument(text, policy: .lastWins)
        #expect(document.count(of: document.root) == 300)
        for key in 0..<300 {
            let value = try #require(document.value(of: JSONKey("key \(key)"), in: document.root))
            #expect(document.string(of: value) == String(key + 600))
        }
        let first = members[..<300].joined(separator: ",").utf8.count + 2
        Row(text, .duplicateKey, at: first).check()
    }

    @Test func reportsSyntaxErrorBeforeRepeatedKey() {
        Row(#"{"a":1,"a":2,}"#, .unexpectedByte, at: 13).check()
    }

    @Test func rejectsLargeObjectBeforeReadingItCompletely() {
        let keys = (0..<50_000).map { #""k\#($0 % 3000)":1"# }.joined(separator: ",")
        // The missing end of the object would be reported if the whole text were read.
        #expect(throws: JSONError(.duplicateKey, at: firstRepeatedOffset)) {
            try JSONDocument("{" + keys)
        }
        #expect(throws: JSONError(.duplicateKey, at: firstRepeatedOffset)) { try JSONDocument("{" + keys + "}") }
    }

    /// The offset of the first key that is repeated.
    private var firstRepeatedOffset: Int { 1 + (0..<3000).reduce(0) { $0 + #""k\#($1)":1,"#.utf8.count } }
}
