import Files
import Testing

@Suite struct MemberPathTests {
    @Test(
        "a path is normalized as in extraction",
        arguments: [
            ("a/b.json", "a/b.json"), ("./a/./b.json", "a/b.json"), ("/a//b.json", "a/b.json"), ("a/", "a"),
            (".", ""), ("./", ""), ("", ""), ("/", ""), ("...", "..."), ("a/..b", "a/..b"), ("a\\b", "a\\b"),
            ("a!b", "a!b"),
        ])
    func path(stored: String, expected: String) throws {
        #expect(try MemberPath(Array(stored.utf8)).text == expected)
    }

    @Test("a path has a maximum length and depth")
    func limits() throws {
        #expect(try MemberPath([UInt8](repeating: 0x61, count: 4096)).bytes.count == 4096)
        #expect(throws: MemberPath.PathError.tooLong) { try MemberPath([UInt8](repeating: 0x61, count: 4097)) }
        let parts = [String](repeating: "a", count: 256).joined(separator: "/")
        #expect(try MemberPath(Array(parts.utf8)).text == parts)
        #expect(try MemberPath(Array("./\(parts)//".utf8)).text == parts)
        #expect(throws: MemberPath.PathError.tooLong) { try MemberPath(Array("\(parts)/a".utf8)) }
    }

    @Test("a path that contains .. is rejected", arguments: ["..", "../a", "a/..", "a/../b", "/..", "./../a"])
    func parentFolder(stored: String) {
        #expect(throws: MemberPath.PathError.leavesRoot) { try MemberPath(Array(stored.utf8)) }
    }
}
