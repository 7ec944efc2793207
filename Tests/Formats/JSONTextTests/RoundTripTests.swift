import JSONText
import TestSupport
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: 0..<400 as Range<UInt64>)
    func writesRandomValuesInCanonicalForm(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let model = ModelValue.random(5, using: &random)
        let document = try JSONDocument(model.unformatted(using: &random))
        #expect(document.canonical == model.canonical)
        #expect(try JSONDocument(model.canonical).canonical == model.canonical)
        let lenient = try JSONDocument(model.unformatted(using: &random), policy: .lenient)
        #expect(lenient.canonical == model.canonical)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func detectsCanonicalTexts(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: 4000 + seed)
        let model = ModelValue.random(5, using: &random)
        for text in [model.canonical, model.unformatted(using: &random)] {
            for policy in [JSONReadingPolicy.strict, .lenient] {
                let document = try JSONDocument(Array(text.utf8), policy: policy)
                #expect(!document.isKnownCanonical || document.canonical == text)
            }
        }
        // A canonical text without escapes is always detected.
        if !model.canonical.contains("\\") { #expect(try JSONDocument(model.canonical).isKnownCanonical) }
    }

    @Test(
        arguments: [
            (#"{"a":1,"b":[true,{"c":{},"d":[]}],"ü":"ü"}"#, true), ("1", true), (#""x""#, true),
            (#"{"b":1,"a":2}"#, false), (#"{"a":{"b":1,"a":2}}"#, false), (#"{"a":1 }"#, false), (#"{"a" :1}"#, false),
            (#"{"a": 1}"#, false), (#"{"a" : 1}"#, false), ("[1,2 ]", false), (" 1", false), ("1\n", false),
            ("[ ]", false),
            (#"["\/"]"#, false),
        ])
    func detectsCanonicalText(_ text: String, _ isCanonical: Bool) throws {
        #expect(try JSONDocument(Array(text.utf8)).isKnownCanonical == isCanonical)
    }

    @Test func changedDocumentsAreNotKnownCanonical() throws {
        let text = Array(#"{"a":[1,2],"b":3}"#.utf8)
        var document = try JSONDocument(text)
        let list = try #require(document.value(of: "a", in: document.root))
        document.removeElement(try #require(document.firstElement(of: list)), from: list)
        #expect(!document.isKnownCanonical)
        try document.read(text)
        #expect(document.isKnownCanonical)
        document.removeMember(withValue: try #require(document.value(of: "b", in: document.root)), from: document.root)
        #expect(!document.isKnownCanonical)
        try document.read(text)
        document.replace(try #require(document.value(of: "b", in: document.root)), with: true)
        #expect(!document.isKnownCanonical)
        var lenient = JSONDocument()
        try lenient.read(Array(#"{"a":1,"a":2}"#.utf8), policy: .lenient)
        #expect(!lenient.isKnownCanonical)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func findsAndWritesEachPart(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: 1000 + seed)
        let model = ModelValue.random(4, using: &random)
        let document = try JSONDocument(model.unformatted(using: &random))
        try check(document, document.root, is: model)
    }

    private func check(_ document: JSONDocument, _ node: JSONNode, is model: ModelValue) throws {
        #expect(document.canonical(node) == model.canonical)
        switch model {
        case .array(let models):
            let elements = document.elements(of: node)
            #expect(elements.count == models.count)
            #expect(document.count(of: node) == models.count)
            for (element, model) in zip(elements, models) { try check(document, element, is: model) }
        case .object(let members):
            #expect(document.count(of: node) == members.count)
            for member in members {
                var key = String.UnicodeScalarView()
                key.append(contentsOf: member.key)
                let value = try #require(document.value(of: JSONKey(String(key)), in: node))
                try check(document, value, is: member.value)
            }
        case .word, .number, .string:
            #expect(document.count(of: node) == 0)
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func rejectsTruncatedTexts(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: 2000 + seed)
        let model = ModelValue.array([.random(3, using: &random), .random(3, using: &random)])
        let text = Array(model.unformatted(using: &random).utf8)
        var document = JSONDocument()
        for length in 0..<text.count {
            let error = #expect(throws: JSONError.self) { try document.read(Array(text[..<length])) }
            #expect((0...length).contains(try #require(error).offset))
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func editsDocumentLikeModel(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: 3000 + seed)
        var model = ModelValue.random(5, using: &random)
        var document = try JSONDocument(model.unformatted(using: &random))
        for _ in 0..<4 {
            model = edit(&document, document.root, model, using: &random)
            #expect(document.canonical == model.canonical)
        }
        #expect(try JSONDocument(document.canonicalBytes(of: document.root)).canonical == model.canonical)
    }

    /// Removes and replaces random parts of a value, and returns the model with the same changes.
    private func edit(
        _ document: inout JSONDocument, _ node: JSONNode, _ model: ModelValue,
        using random: inout SeededGenerator
    ) -> ModelValue {
        if random.chance(5) {
            document.replace(node, withNumber: "-12.50e1".utf8)
            return .number("-12.50e1")
        }
        if random.chance(5) {
            document.replace(node, withString: "new\u{1}\"text".utf8)
            return .string(Array("new\u{1}\"text".unicodeScalars))
        }
        if random.chance(5) {
            document.replace(node, with: false)
            return .word("false")
        }
        switch model {
        case .array(let models):
            var kept: [ModelValue] = []
            for (element, model) in zip(document.elements(of: node), models) {
                if random.chance(15) {
                    document.removeElement(element, from: node)
                } else {
                    kept.append(edit(&document, element, model, using: &random))
                }
            }
            return .array(kept)
        case .object(let members):
            var kept: [ModelValue.Member] = []
            for member in members {
                var key = String.UnicodeScalarView()
                key.append(contentsOf: member.key)
                guard let value = document.value(of: JSONKey(String(key)), in: node) else {
                    Issue.record("a member was lost")
                    continue
                }
                if random.chance(15) {
                    document.removeMember(withValue: value, from: node)
                } else {
                    kept.append(
                        .init(key: member.key, value: edit(&document, value, member.value, using: &random)))
                }
            }
            return .object(kept)
        case .word, .number, .string:
            return model
        }
    }
}
