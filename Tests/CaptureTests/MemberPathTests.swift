import Testing

@testable import Capture

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
        #expect(throws: MemberPath.Refusal.climbs) { try MemberPath(stored.utf8) }
    }

    @Test(
        "members that may belong to stores are told by their paths",
        arguments: [
            ("Documents/MozTelemetry-Default-core/-t-1.json", true), ("Documents/MozTelemetry-Default-core/x", true),
            ("a/b.plist", true), ("a/b.sqlite3", false), ("a/.b.json", false), ("a/photo.jpg", false),
            (".com.apple.mobile_container_manager.metadata.plist", true), ("MozTelemetry-Default-core", false),
        ])
    func wanted(path: String, isWanted: Bool) throws {
        #expect(StoreNames.mayBelongToStore(try MemberPath(path.utf8), rootName: "phone") == isWanted)
    }

    @Test(
        "archives are told by their names",
        arguments: [
            ("a.zip", "a"), ("A.ZIP", "A"), ("a.tar.gz", "a"), ("a.b.tgz", "a.b"), ("a.tar.zst", "a"), ("a.7z", "a"),
            ("a.cpio.xz", "a"), ("a.gz", nil), ("zip", nil), ("a.zipper", nil), ("a.json", nil),
        ])
    func archiveNames(name: String, rest: String?) {
        #expect(StoreNames.withoutArchiveSuffix(name.utf8) == rest)
    }

    @Test("the kind of an input is told by its first bytes")
    func kinds() {
        let tar = [UInt8](repeating: 0, count: 257) + Array("ustar".utf8)
        for head in [Array("PK\u{3}\u{4}".utf8), [0x1F, 0x8B], Array("070701".utf8), tar] {
            guard case .archive = InputKind(head: head) else { Issue.record("no archive: \(head.prefix(4))"); continue }
        }
        for head in [[], Array("{}".utf8), Array("bplist00".utf8), Array("SQLite format 3".utf8)] {
            guard case .other = InputKind(head: head) else { Issue.record("known: \(head.prefix(4))"); continue }
        }
        if case .damagedZstd = InputKind(head: [0x28, 0xB5, 0x2F, 0xFD, 0]) { return }
        Issue.record("damage was not noticed")
    }
}
