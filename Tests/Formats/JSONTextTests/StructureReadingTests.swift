import JSONText
import Testing

@Suite struct StructureReadingTests {
    @Test(arguments: [
        Row("[]", "[]"), Row("{}", "{}"), Row("[ \n ]", "[]"), Row("{ \n }", "{}"), Row("[[],{}]", "[[],{}]"),
        Row("[1,[2,[3]],4]", "[1,[2,[3]],4]"), Row(#"{"a":{"b":[{}]}}"#, #"{"a":{"b":[{}]}}"#),
        Row(" [ 1 , 2 ] ", "[1,2]"), Row(#" { "a" : 1 , "b" : [ ] } "#, #"{"a":1,"b":[]}"#),
        Row(#"{"":null}"#, #"{"":null}"#),
    ])
    func readsArraysAndObjects(_ row: Row) {
        row.check()
    }

    @Test(arguments: [
        Row("[", .unexpectedEnd, at: 1), Row("[1", .unexpectedEnd, at: 2), Row("[1,", .unexpectedEnd, at: 3),
        Row("[1, ", .unexpectedEnd, at: 4), Row("{", .unexpectedEnd, at: 1),
        Row(#"{"a""#, .unexpectedEnd, at: 4),
        Row(#"{"a":"#, .unexpectedEnd, at: 5), Row(#"{"a":1"#, .unexpectedEnd, at: 6),
        Row(#"{"a":1,"#, .unexpectedEnd, at: 7), Row("[[]", .unexpectedEnd, at: 3),
        Row("[1,]", .unexpectedByte, at: 3), Row("[,1]", .unexpectedByte, at: 1),
        Row("[1,,2]", .unexpectedByte, at: 3),
        Row(#"{"a":1,}"#, .unexpectedByte, at: 7), Row("{,}", .unexpectedByte, at: 1),
        Row(#"{"a"}"#, .unexpectedByte, at: 4), Row(#"{"a",1}"#, .unexpectedByte, at: 4),
        Row(#"{"a":}"#, .unexpectedByte, at: 5), Row(#"{"a"::1}"#, .unexpectedByte, at: 5),
        Row("{1:2}", .unexpectedByte, at: 1), Row("{a:2}", .unexpectedByte, at: 1),
        Row("{null:2}", .unexpectedByte, at: 1), Row(#"{"a":1 "b":2}"#, .unexpectedByte, at: 7),
        Row("[1}", .unexpectedByte, at: 2), Row(#"{"a":1]"#, .unexpectedByte, at: 6),
        Row("[}", .unexpectedByte, at: 1),
        Row("{]", .unexpectedByte, at: 1), Row("]", .unexpectedByte, at: 0), Row("}", .unexpectedByte, at: 0),
        Row("[1:2]", .unexpectedByte, at: 2), Row("[1]]", .trailingBytes, at: 3),
        Row("{}{}", .trailingBytes, at: 2),
        Row("[1] ,", .trailingBytes, at: 4), Row("[1 /* */]", .unexpectedByte, at: 3),
    ])
    func rejectsMalformedStructure(_ row: Row) {
        row.check()
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func reads512LevelsButNoMore(_ open: String, _ close: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        Row(nested(512), nested(512)).check()
        Row(nested(513), .tooDeep, at: 512 * open.utf8.count).check()
        Row(nested(100_000), .tooDeep, at: 512 * open.utf8.count).check()
    }

    @Test func countsOnlyOpenContainersAsDepth() {
        let policy = JSONReadingPolicy(depthLimit: 2)
        Row("[[],[],{},[1]]", "[[],[],{},[1]]").check(policy)
        Row("[[],[[]]]", .tooDeep, at: 5).check(policy)
        Row("1", "1").check(JSONReadingPolicy(depthLimit: 0))
        Row("[]", .tooDeep, at: 0).check(JSONReadingPolicy(depthLimit: 0))
    }

    @Test func readsDeepTextsWithoutUsingStack() throws {
        let depth = 300_000
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let document = try JSONDocument(text, policy: JSONReadingPolicy(depthLimit: .max))
        #expect(document.canonical == text)
    }

    @Test func readsSingleValueFromRange() throws {
        let text = Array(" {\"a\":1} [2] 3x\"".utf8)
        var document = JSONDocument()
        var ends: [Int] = []
        var values: [String] = []
        for _ in 0..<3 {
            ends.append(try document.readValue(in: text, range: (ends.last ?? 0)..<text.count))
            values.append(document.canonical)
        }
        #expect(ends == [9, 13, 14])
        #expect(values == [#"{"a":1}"#, "[2]", "3"])
        #expect(throws: JSONError(.unexpectedByte, at: 14)) {
            try document.readValue(in: text, range: 14..<text.count)
        }
    }

    @Test func doesNotReadBeyondRange() {
        let text = Array("[1,2]".utf8)
        var document = JSONDocument()
        for end in 1..<text.count {
            #expect(throws: JSONError(.unexpectedEnd, at: end)) {
                try document.readValue(in: text, range: 0..<end)
            }
        }
        #expect(throws: JSONError(.empty, at: 2)) { try document.readValue(in: text, range: 2..<2) }
    }

    /// The memory for the values of a large text is estimated from the part that was read.
    @Test func readsLargeTextsOfVaryingDensity() throws {
        let dense = Array(repeating: "1", count: 150_000)
        let sparse = Array(repeating: "\"\(String(repeating: "x", count: 1000))\"", count: 2000)
        let pairs = (0..<100_000).map { "\"\(100_000 + $0)\":[]" }
        for elements in [dense + sparse, sparse + dense, dense + sparse + dense] {
            let text = "[\(elements.joined(separator: ","))]"
            #expect(try JSONDocument(text).canonical == text)
        }
        let object = "{\(pairs.joined(separator: ","))}"
        #expect(try JSONDocument(object).canonical == object)
        #expect(try JSONDocument("[\(object),\(object)]").canonical == "[\(object),\(object)]")
    }

    @Test func containsNullInitiallyAndAfterErrors() throws {
        var document = JSONDocument()
        #expect(document.kind(of: document.root) == .null)
        #expect(document.canonical == "null")
        try document.read(Array(#"{"a":["\n"]}"#.utf8))
        for text in ["[1", "[1] 2", "", #"{"a":1,"a":2}"#] {
            #expect(throws: JSONError.self) { try document.read(Array(text.utf8)) }
            #expect(document.kind(of: document.root) == .null)
            #expect(document.canonical == "null")
        }
    }

    @Test func replacesValueWhenReadingAgain() throws {
        var document = try JSONDocument(#"{"a":"\n","b":[1,2]}"#)
        document.replace(try document.at("a"), withString: "longer than before".utf8)
        try document.read(Array(#"["\t",{"c":1}]"#.utf8))
        #expect(document.canonical == #"["\t",{"c":1}]"#)
    }
}
