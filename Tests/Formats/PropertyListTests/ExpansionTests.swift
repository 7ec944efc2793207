import Testing

@testable import PropertyList

/// Tests of expansions of values that share others or contain themselves.
///
/// Source: "Keyed archives", D.3.
@Suite struct ExpansionTests {
    private func expansion(_ objects: String) throws -> Expansion {
        var archive = try KeyedArchive(try PropertyListDocument(try Archive.make(objects)))
        return try archive.expansion(of: try archive.root())
    }

    private func code(_ objects: String) throws -> PropertyListError.Code? {
        do {
            _ = try expansion(objects)
            return nil
        } catch let error as PropertyListError {
            return error.code
        }
    }

    @Test func countsValuesAndLevels() throws {
        #expect(try expansion("'x'") == Expansion(count: 1, depth: 1))
        #expect(
            try expansion("{'$class': U(2), 'a': 1, 'b': U(0), 'c': [U(3), U(3)]}, cls('A'), 'x'")
                == Expansion(count: 5, depth: 2))
        #expect(
            try expansion(
                "{'$class': U(2), 'a': U(3), 'b': U(3)}, cls('A'), {'$class': U(2), 'c': U(4), 'd': U(77)}, 'x'")
                == Expansion(count: 7, depth: 3))
    }

    @Test func limitsCounts() throws {
        let arrays = (1...10).map { "{'$class': U(12), 'NS.objects': [U(\($0 + 1))] * 10}" }.joined(separator: ", ")
        let found = try expansion("\(arrays), 'ha', cls('NSArray')")
        #expect(found == Expansion(count: Expansion.countLimit, depth: 11))
    }

    @Test func findsCycles() throws {
        #expect(try code("{'$class': U(2), 'a': U(1)}, cls('A')") == .graphCycle)
        #expect(
            try code("{'$class': U(2), 'a': U(3)}, cls('A'), {'$class': U(2), 'b': U(4)}, {'$class': U(2), 'c': U(3)}")
                == .graphCycle)
        // The base of a URL is not followed.
        #expect(try code("{'$class': U(2), 'NS.base': U(1), 'NS.relative': U(3)}, cls('NSURL'), 'x'") == nil)
    }

    /// A value without a cycle is expanded even after a cyclic value that contains it.
    @Test func expandsValuesContainedInCycles() throws {
        var archive = try KeyedArchive(
            try PropertyListDocument(
                try Archive.make(
                    "{'$class': U(2), 'NS.objects': [U(3), U(4)]}, cls('NSArray'), "
                        + "{'$class': U(2), 'NS.objects': [U(3), U(4)]}, {'$class': U(2), 'NS.objects': [U(5)]}, 'x'")))
        guard case .array(let elements, _) = try archive.value(ofObject: try archive.root()) else {
            return #expect(Bool(false), "no array")
        }
        let (bad, good) = (try archive.element(at: 0, of: elements), try archive.element(at: 1, of: elements))
        #expect(throws: PropertyListError.self) { try archive.expansion(of: bad) }
        #expect(try archive.expansion(of: good) == Expansion(count: 2, depth: 2))
    }

    @Test func limitsDepth() throws {
        func chain(_ levels: Int) -> String {
            (1..<levels).map { "{'$class': U(\(levels + 1)), 'NS.objects': [U(\($0 + 1))]}" }.joined(separator: ", ")
                + ", 'x', cls('NSArray')"
        }
        #expect(try expansion(chain(128)) == Expansion(count: 128, depth: 128))
        #expect(try code(chain(129)) == .tooDeep)
        #expect(try code(chain(5000)) == .tooDeep)
    }

    @Test func matchesClassesByAncestors() throws {
        var archive = try KeyedArchive(
            try PropertyListDocument(try Archive.make("{'$class': U(2), 'a': 1}, cls('Mine', 'SiftEvent')")),
            classNames: [["SFEvent"], ["OtherEvent", "SiftEvent"]])
        let root = try archive.root()
        let classOfRoot = try archive.classOfInstance(root)
        let found = try #require(classOfRoot)
        #expect(archive.document.string(of: found.name) == "Mine")
        #expect(found.isNamed(1) && !found.isNamed(0))
        let key = archive.key("a")
        let member = archive.member(key, of: root)
        let stored = try #require(member)
        #expect(archive.document.integer(of: stored).signed == 1)
        #expect(throws: PropertyListError.self) { try archive.object(key, of: root) }
    }

    /// Members are found regardless of whether the writer stores each string once or repeatedly.
    @Test func findsMembersOfAllWriters() throws {
        for name in ["queue-scalars-not-uniqued", "queue-xml", "queue-refs-3-bytes", "queue-offsets-8-bytes"] {
            let file = try #require(try HostileFile.all.first { $0.file == name })
            let text = try printed(try file.bytes)
            #expect(text.contains(#""time":1001"#), "\(name)")
        }
    }
}
