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
        #expect(try MemberPath(Array(stored.utf8)).text == expected)
    }

    @Test("a path is as long and as deep as one on disk, no more")
    func limits() throws {
        #expect(try MemberPath([UInt8](repeating: 0x61, count: 4096)).bytes.count == 4096)
        #expect(throws: MemberPath.PathError.tooLong) { try MemberPath([UInt8](repeating: 0x61, count: 4097)) }
        let parts = [String](repeating: "a", count: 256).joined(separator: "/")
        #expect(try MemberPath(Array(parts.utf8)).text == parts)
        #expect(try MemberPath(Array("./\(parts)//".utf8)).text == parts)
        #expect(throws: MemberPath.PathError.tooLong) { try MemberPath(Array("\(parts)/a".utf8)) }
    }

    @Test("a path that climbs is refused", arguments: ["..", "../a", "a/..", "a/../b", "/..", "./../a"])
    func climbing(stored: String) {
        #expect(throws: MemberPath.PathError.climbs) { try MemberPath(Array(stored.utf8)) }
    }
}
