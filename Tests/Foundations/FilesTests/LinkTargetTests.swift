import Foundation
import TestSupport
import Testing

@testable import Files

/// Tests for the targets of symbolic links on disk and in archives.
@Suite struct LinkTargetTests {
    /// The path of a link, its stored target and the expected destination.
    ///
    /// The capture has the folders `a`, `a/b` and `d`, the files `a/f` and `f`, and the links `a/to-d` and `loop`.
    private static let links: [(path: String, text: String, LinkTarget.Destination)] = [
        ("a/b/x", "../../d", .folder), ("x", "d", .folder), ("x", "./d/", .folder), ("a/x", "to-d", .folder),
        ("a/x", "to-d/../f", .file), ("a/x", "../a/b", .folder), ("a/b/x", "..", .enclosingFolder),
        ("a/b/x", "../..", .enclosingFolder), ("x", ".", .enclosingFolder), ("a/x", "../a", .enclosingFolder),
        ("x", "f", .file), ("a/b/x", "../f", .file), ("x", "a/none", .missing), ("x", "f/none", .missing),
        ("x", "none", .missing),
    ]

    private func capture() throws -> (TemporaryFolder, SpooledTreeBuilder) {
        let folder = try TemporaryFolder()
        var builder = SpooledTreeBuilder()
        for name in ["capture/a/b", "capture/d"] { try folder.makeFolder(name) }
        for name in ["a/b", "d"] { builder.addFolder(try MemberPath(Array(name.utf8))) }
        for name in ["a/f", "f"] {
            try folder.put("x", "capture/\(name)")
            builder.addFile(try MemberPath(Array(name.utf8)), .omitted)
        }
        for (name, text) in [("a/to-d", "../d"), ("loop", "loop")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder("capture/\(name)"), withDestinationPath: text)
            builder.addLink(try MemberPath(Array(name.utf8)), to: Array(text.utf8))
        }
        return (folder, builder)
    }

    private func onDisk(_ path: String, _ text: String) throws -> LinkTarget? {
        let (folder, _) = try capture()
        try #require(symlink(text, folder("capture/\(path)")) == 0)
        return try target(of: path, in: FileTree(try Folder(path: folder("capture"))))
    }

    private func inArchive(_ path: String, _ text: [UInt8]) throws -> LinkTarget? {
        var (_, builder) = try capture()
        builder.addLink(try MemberPath(Array(path.utf8)), to: text)
        let (members, faults) = builder.finish(name: "a.tar", byteStorage: .provider { _ in ByteSource([]) })
        #expect(faults.isEmpty)
        return try target(of: path, in: FileTree(Folder(rootOf: members)))
    }

    private func target(of path: String, in tree: FileTree) throws -> LinkTarget? {
        let parts = path.split(separator: "/").map(String.init)
        let name = try #require(parts.last)
        return tree.target(ofLink: Array(name.utf8), inFolder: parts.dropLast().joined(separator: "/"))
    }

    @Test("a link has the same target on disk and in an archive")
    func destinations() throws {
        for (path, text, destination) in Self.links {
            let expected = LinkTarget(path: text, destination: destination)
            #expect(try onDisk(path, text) == expected, "\(path) -> \(text)")
            #expect(try inArchive(path, Array(text.utf8)) == expected, "\(path) -> \(text)")
        }
    }

    @Test("a target outside of the capture is known on disk and unknown in an archive")
    func outside() throws {
        let links: [(text: String, LinkTarget.Destination)] = [
            ("/", .folder), ("../..", .folder), ("/etc/passwd", .fileOutside), ("/none/at/all", .unknown),
            ("../none", .unknown), ("/dev/null", .fileOutside),
        ]
        for (text, destination) in links {
            #expect(try onDisk("x", text)?.destination == destination, "\(text)")
            #expect(try inArchive("x", Array(text.utf8))?.destination == .unknown, "\(text)")
        }
    }

    @Test("a target beside the archived folder is unknown in an archive")
    func beside() throws {
        for (path, text) in [("a/x", "../none"), ("a/b/x", "../../none/x"), ("a/x", "to-d/../none")] {
            #expect(try onDisk(path, text)?.destination == .missing, "\(path)")
            #expect(try inArchive(path, Array(text.utf8))?.destination == .unknown, "\(path)")
        }
    }

    @Test("unknown targets, too many path parts and loops are detected")
    func unknown() throws {
        #expect(try inArchive("x", []) == LinkTarget(path: "", destination: .unknown))
        let steps = String(repeating: "a/../", count: 500)
        #expect(try inArchive("x", Array(steps.utf8))?.destination == .unknown)
        #expect(try inArchive("x", Array("loop".utf8))?.destination == .missing)
        #expect(try onDisk("x", "loop")?.destination == .missing)
    }

    @Test("the name of a link need not be UTF-8, and other names have no target")
    func names() throws {
        let (folder, _) = try capture()
        let name: [UInt8] = [0x78, 0xFF]
        let path = Array(folder("capture/").utf8) + name + [0]
        try #require(path.withUnsafeBytes { symlink("d", $0.bindMemory(to: CChar.self).baseAddress!) } == 0)
        let tree = FileTree(try Folder(path: folder("capture")))
        #expect(tree.target(ofLink: name, inFolder: "") == LinkTarget(path: "d", destination: .folder))
        #expect(tree.target(ofLink: Array("f".utf8), inFolder: "") == nil)
        #expect(tree.target(ofLink: Array("none".utf8), inFolder: "") == nil)
    }
}
