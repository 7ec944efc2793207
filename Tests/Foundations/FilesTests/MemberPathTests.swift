import Files
import Testing

/// Paths as archives store them.
@Suite struct MemberPathTests {
    @Test(
        "a path is what extracting it would make",
        arguments: [
            ("a/b.json", "a/b.json"), ("./a/./b.json", "a/b.json"), ("/a//b.json", "a/b.json"), ("a/", "a"),
            (".", ""), ("./", ""), ("", ""), ("/", ""), ("...", "..."), ("a/..b", "a/..b"), ("a\\b", "a\\b"),
            ("a!b", "a!b"),
        ])
    func path(stored: String, expected: String) throws {
        #expect(try MemberPath(stored.utf8).text == expected)
    }

    @Test("a path that climbs is refused", arguments: ["..", "../a", "a/..", "a/../b", "/..", "./../a"])
    func climbing(stored: String) {
        #expect(throws: MemberPath.PathError.climbs) { try MemberPath(stored.utf8) }
    }
}
