import Files
import Foundation
import TestSupport
import Testing

/// Tests that paths of the same file have the same identity.
@Suite struct PathIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func identity(_ name: String) -> PathIdentity? { PathIdentity(path: folder(name)) }

    @Test func linksAndSpellingsOfAFileAreEqual() throws {
        try folder.put("x", "a/file")
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder("link"), withDestinationPath: "a/file")
        try manager.createSymbolicLink(atPath: folder("b"), withDestinationPath: "a")
        try manager.linkItem(atPath: folder("a/file"), toPath: folder("hard"))
        let expected = try #require(identity("a/file"))
        for name in ["a/./file", "a//file", "a/../a/file", "link", "b/file", "hard"] {
            #expect(identity(name) == expected, "\(name)")
        }
        try folder.put("x", "a/other")
        #expect(identity("a/other") != expected)
        #expect(identity("a") == identity("b/"))
    }

    @Test func missingFilesAreComparedByFolderAndName() throws {
        try folder.makeFolder("a")
        try FileManager.default.createSymbolicLink(atPath: folder("b"), withDestinationPath: "a")
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "b/none")
        let expected = try #require(identity("a/none"))
        for name in ["a/./none", "b/none", "a/../b//none", "link", "a/NONE"] {
            #expect(identity(name) == expected, "\(name)")
        }
        #expect(identity("a/caf\u{E9}") == identity("b/cafe\u{301}"))
        #expect(identity("none") != expected)
        #expect(identity("a/none/deep/file") == identity("b/none/deep/file"))
        #expect(identity("a/none/deep/file") != identity("a/none/file"))
    }

    @Test func devicesPipesAndCyclesHaveNoIdentity() throws {
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: folder("cycle"), withDestinationPath: "cycle")
        #expect(identity("pipe") == nil)
        #expect(identity("cycle") == nil)
        #expect(PathIdentity(path: "/dev/null") == nil)
        #expect(PathIdentity(path: "") == nil)
    }
}
