import JSONText
import Testing

@Suite struct NavigationTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .true), ("false", .false), ("1", .number), (#""""#, .string),
            ("[]", .array),
            ("{}", .object),
        ] as [(String, JSONKind)])
    func returnsKindOfValue(_ text: String, _ kind: JSONKind) throws {
        let document = try JSONDocument(text)
        #expect(document.kind(of: document.root) == kind)
    }

    @Test("A key is found regardless of the expected position", arguments: [0, 1, 2, 3, 9])
    func findsKeyAtAnyExpectedPosition(position: Int) throws {
        let document = try JSONDocument(#"{"a":1,"b":2,"c":3}"#)
        let value = try #require(document.value(of: "b", in: document.root, expectedAt: position))
        #expect(document.string(of: value) == "2")
        #expect(document.value(of: "d", in: document.root, expectedAt: position) == nil)
        #expect(document.value(of: "b", in: value, expectedAt: position) == nil)
    }

    @Test func countsElementsAndMembers() throws {
        let document = try JSONDocument(#"{"a":[1,[2,3],{}],"b":{"x":1,"y":2},"c":"str","d":12}"#)
        #expect(document.count(of: document.root) == 4)
        #expect(document.count(of: try document.at("a")) == 3)
        #expect(document.count(of: try document.at("b")) == 2)
        #expect(document.count(of: try document.at("c")) == 0)
        #expect(document.count(of: try document.at("d")) == 0)
    }

    @Test func returnsMembersInCanonicalOrder() throws {
        let document = try JSONDocument(#"{"c":3,"a":[1],"b":{"z":0}}"#)
        let members = (0..<3).map { document.member(at: $0, of: document.root) }
        #expect(members.map { document.string(of: $0.key) } == ["a", "b", "c"])
        #expect(members.map { document.canonical($0.value) } == ["[1]", #"{"z":0}"#, "3"])
    }

    @Test(arguments: [0, 1, 2, 3, 10, 100])
    func findsExistingKeysOnly(_ count: Int) throws {
        let text = "{" + (0..<count).map { "\"k\(2 * $0 + 1)\":\($0)" }.joined(separator: ",") + "}"
        let document = try JSONDocument(text)
        for number in 0...2 * count {
            let value = document.value(of: JSONKey("k\(number)"), in: document.root)
            #expect(value.map(document.string(of:)) == (number % 2 == 1 ? String(number / 2) : nil))
        }
    }

    @Test func findsKeysByUTF8() throws {
        let document = try JSONDocument(#"{"\u00e9":1,"":2,"a\u0000":3,"a":4}"#)
        #expect(document.string(of: try document.at("é")) == "1")
        #expect(document.string(of: try document.at("")) == "2")
        #expect(document.string(of: try document.at("a\0")) == "3")
        #expect(document.string(of: try document.at("a")) == "4")
        #expect(document.value(of: "e\u{301}", in: document.root) == nil)
    }

    @Test func findsNothingInOtherValues() throws {
        let document = try JSONDocument(#"["a",1]"#)
        #expect(document.value(of: "a", in: document.root) == nil)
        for element in document.elements(of: document.root) {
            #expect(document.value(of: "a", in: element) == nil)
            #expect(document.firstElement(of: element) == nil)
            #expect(document.elements(of: element).isEmpty)
        }
    }

    @Test func iteratesOverNestedElements() throws {
        let document = try JSONDocument(#"[[1,[2]],{"a":[3]},"x",[],{},null]"#)
        var texts: [String] = []
        var element = document.firstElement(of: document.root)
        while let current = element {
            texts.append(document.canonical(current))
            element = document.element(after: current, of: document.root)
        }
        #expect(texts == ["[1,[2]]", #"{"a":[3]}"#, #""x""#, "[]", "{}", "null"])
    }

    @Test func returnsSourceRanges() throws {
        let text = #" {"a" : [1, 2] ,"b":"xy","c":"\n", "d":-1.5 ,"e": true}"#
        let document = try JSONDocument(text)
        func source(_ key: JSONKey) throws -> String? {
            let node = try document.at(key)
            return document.sourceRange(of: node).map {
                String(decoding: Array(text.utf8)[$0], as: UTF8.self)
            }
        }
        #expect(try source("a") == "[1, 2]")
        #expect(try source("b") == "xy")
        #expect(try source("c") == nil)
        #expect(try source("d") == "-1.5")
        #expect(try source("e") == "true")
        #expect(document.sourceRange(of: document.root) == 1..<text.utf8.count)
        #expect(document.bytes(of: try document.at("a")).equals("[1, 2]"))
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "a", -1), ("a", "b", -1), ("ab", "a", 1), ("a", "ab", -1),
        ("é", "z", 1),
        ("same", "same", 0),
    ])
    func ordersBytesLexicographically(_ left: String, _ right: String, _ sign: Int) {
        #expect(left.utf8.span.ordered(against: right.utf8.span).signum() == sign)
        #expect(left.utf8.span.equals(right) == (sign == 0))
    }

    @Test func replacesMalformedUTF8() {
        #expect(String(readingUTF8: ([0x61, 0xFF, 0x62] as [UInt8]).span) == "a\u{FFFD}b")
        #expect(String(readingUTF8: Array("é😀".utf8).span) == "é😀")
    }
}
