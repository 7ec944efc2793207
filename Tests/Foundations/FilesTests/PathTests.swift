import Files
import Testing

@Suite struct PathTests {
    @Test(
        "a path is split at its last slash",
        arguments: [
            ("/a/b", "b", "/a"), ("/b", "b", "/"), ("b", "b", "."), ("a/b", "b", "a"), ("a/", "", "a"), ("/", "", "/"),
            ("", "", "."), ("a/\u{301}b", "\u{301}b", "a"), ("//b", "b", "/"),
        ])
    func split(path: String, name: String, folder: String) {
        #expect(Path.name(of: path) == name)
        #expect(Path.folder(of: path) == folder)
    }

    @Test("a path without a slash has no parent, and that of an entry of the root folder is empty")
    func parent() {
        #expect(Path.parent(of: "a") == nil)
        #expect(Path.parent(of: "/a") == "")
        #expect(Path.parent(of: "a/b") == "a")
    }

    @Test(
        "the last name of a path is neither empty nor a dot",
        arguments: [
            ("/a/b", "b"), ("b", "b"), ("/a/b/", "b"), ("/a/b//", "b"), ("/a/b/.", "b"), ("./b", "b"), (".", "."),
            ("/", "/"), ("..", ".."), ("a/..", ".."), ("", ""),
        ])
    func lastName(path: String, name: String) {
        #expect(Path.lastName(of: path) == name)
    }

    @Test(
        "the parts of a path are not empty",
        arguments: [
            ("/a//b/", ["a", "b"]), ("a/./b", ["a", ".", "b"]), ("/", []), ("", []), ("a/\u{301}b", ["a", "\u{301}b"]),
        ] as [(String, [String])])
    func parts(path: String, parts: [String]) {
        #expect(Path.parts(of: path) == parts)
    }

    @Test("trailing slashes are removed", arguments: [("a//", "a"), ("a", "a"), ("//", "/"), ("/", "/"), ("", "")])
    func trailingSlashes(path: String, without: String) {
        #expect(Path.withoutTrailingSlashes(path) == without)
    }
}
