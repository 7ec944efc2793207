import JSONText
import Testing

@Suite struct EditingTests {
    @Test func removesMembersFromObject() throws {
        var document = try JSONDocument(#"{"c":[1],"a":1,"b":{"x":2}}"#)
        let root = document.root
        document.removeMember(withValue: try document.at("b"), from: root)
        #expect(document.canonical == #"{"a":1,"c":[1]}"#)
        #expect(document.count(of: root) == 2)
        #expect(document.value(of: "b", in: root) == nil)
        document.removeMember(withValue: try document.at("a"), from: root)
        document.removeMember(withValue: try document.at("c"), from: root)
        #expect(document.canonical == "{}")
        #expect(document.count(of: root) == 0)
    }

    @Test func ignoresRemovalOfAbsentValues() throws {
        var document = try JSONDocument(#"{"a":{},"b":[1],"c":"s","d":7}"#)
        let before = document.canonical
        let seven = try document.at("d")
        for key in ["a", "b", "c", "d"] as [JSONKey] {
            document.removeMember(withValue: seven, from: try document.at(key))
            document.removeMembers(from: try document.at(key)) { _, _ in true }
        }
        document.removeElement(seven, from: try document.at("a"))
        #expect(document.canonical == before)
        document.removeMember(withValue: seven, from: document.root)
        document.removeMember(withValue: seven, from: document.root)
        #expect(document.canonical == #"{"a":{},"b":[1],"c":"s"}"#)
    }

    @Test func removesMembersWithKeys() throws {
        var document = try JSONDocument(#"{"c":[1],"a":1,"b":{"a":2},"d":{}}"#)
        let root = document.root
        #expect(document.removeMembers(["d", "x", "a"], from: root) == ["d", "a"])
        #expect(document.canonical == #"{"b":{"a":2},"c":[1]}"#)
        #expect(document.members(of: root).map { document.string(of: $0.key) } == ["b", "c"])
        #expect(document.has("b", "c", in: root) && !document.has("b", "a", in: root))
        #expect(document.removeMembers(["a"], from: root) == [])
        let list = try document.at("c")
        #expect(document.removeMembers(["a"], from: list) == [] && document.members(of: list).isEmpty)
        #expect(document.canonical == #"{"b":{"a":2},"c":[1]}"#)
    }

    @Test func removesMembersThatSatisfyPredicate() throws {
        var document = try JSONDocument(#"{"a":null,"b":1,"c":null,"d":{"e":null}}"#)
        document.removeMembers(from: document.root) { $0.kind(of: $1.value) == .null }
        #expect(document.canonical == #"{"b":1,"d":{"e":null}}"#)
        #expect(document.value(of: "c", in: document.root) == nil)
        #expect(document.value(of: "d", in: document.root) != nil)
    }

    @Test func keepsMembersIfPredicateThrows() throws {
        struct Fault: Error {}
        var document = try JSONDocument(#"{"a":1,"b":2,"c":3}"#)
        #expect(throws: Fault.self) {
            try document.removeMembers(from: document.root) { document, member in
                if document.string(of: member.key) == "b" { throw Fault() }
                return true
            }
        }
        #expect(document.canonical == #"{"a":1,"b":2,"c":3}"#)
    }

    @Test func removesElementsFromArray() throws {
        var document = try JSONDocument(#"[1,[2],{"a":3},"four"]"#)
        let root = document.root
        let elements = document.elements(of: root)
        document.removeElement(elements[1], from: root)
        #expect(document.canonical == #"[1,{"a":3},"four"]"#)
        #expect(document.elements(of: root) == [elements[0], elements[2], elements[3]])
        #expect(document.element(after: elements[0], of: root) == elements[2])
        #expect(document.element(after: elements[1], of: root) == elements[2])
        document.removeElement(elements[3], from: root)
        document.removeElement(elements[0], from: root)
        #expect(document.canonical == #"[{"a":3}]"#)
        #expect(document.count(of: root) == 1)
        document.removeElement(elements[2], from: root)
        #expect(document.canonical == "[]")
        #expect(document.firstElement(of: root) == nil)
    }

    @Test func removesElementOnlyOnce() throws {
        var document = try JSONDocument("[1,2]")
        let first = try #require(document.firstElement(of: document.root))
        for _ in 0..<3 { document.removeElement(first, from: document.root) }
        #expect(document.count(of: document.root) == 1)
        #expect(document.canonical == "[2]")
    }

    @Test func ignoresReplacementOfRemovedElement() throws {
        var document = try JSONDocument("[1,2]")
        let first = try #require(document.firstElement(of: document.root))
        document.removeElement(first, from: document.root)
        document.replace(first, with: true)
        #expect(document.canonical == "[2]")
        #expect(document.count(of: document.root) == 1)
    }

    @Test func replacesValuesOfAnyKind() throws {
        let text = #"{"a":null,"b":[1,2],"c":{"x":1},"d":"s\n","e":12}"#
        for key in ["a", "b", "c", "d", "e"] as [JSONKey] {
            var document = try JSONDocument(text)
            let node = try document.at(key)
            document.replace(node, withNumber: "-1.50e+3".utf8)
            #expect(document.kind(of: node) == .number)
            #expect(document.canonical(node) == "-1.50e+3")
            document.replace(node, withString: "q\"\u{1}é".utf8)
            #expect(document.kind(of: node) == .string)
            #expect(document.string(of: node) == "q\"\u{1}é")
            #expect(document.canonical(node) == "\"q\\\"\\u0001é\"")
            document.replace(node, with: false)
            #expect(document.kind(of: node) == .false)
            #expect(document.count(of: node) == 0)
            #expect(document.firstElement(of: node) == nil)
            #expect(document.value(of: "x", in: node) == nil)
            #expect(document.sourceRange(of: node) == nil)
            let others = try JSONDocument(document.canonicalBytes(of: document.root))
            #expect(others.canonical(try others.at(key)) == "false")
            #expect(others.count(of: others.root) == 5)
        }
    }

    @Test func writesLongReplacements() throws {
        var document = try JSONDocument("[1,2]")
        let long = String(repeating: "\u{1}", count: 10_000)
        for element in document.elements(of: document.root) {
            document.replace(element, withString: long.utf8)
        }
        let written = "\"" + String(repeating: "\\u0001", count: 10_000) + "\""
        #expect(document.canonical == "[\(written),\(written)]")
    }

    @Test func replacesRoot() throws {
        var document = try JSONDocument(#"{"a":1}"#)
        document.replace(document.root, with: true)
        #expect(document.canonical == "true")
    }

    @Test func editsDoNotChangeCopies() throws {
        let original = try JSONDocument(#"{"a":[1,2],"b":3}"#)
        var edited = original
        edited.removeMember(withValue: try edited.at("b"), from: edited.root)
        edited.replace(try edited.at("a"), with: false)
        #expect(edited.canonical == #"{"a":false}"#)
        #expect(original.canonical == #"{"a":[1,2],"b":3}"#)
    }
}
