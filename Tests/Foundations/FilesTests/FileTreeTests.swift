import TestSupport
import Testing

@testable import Files

/// Archives in a capture, found by the paths that lead into them.
@Suite struct FileTreeTests {
    @Test("a path leads into the archive whose name it goes on from, whatever stands beside it")
    func parts() throws {
        let names = ["a.zip", "a b.zip", "a.zip0", "b/a.zip", "b.zip", "a.zi"]
        let folder = try TemporaryFolder()
        var tree = FileTree(try Folder(path: folder.path))
        let members = SpooledTree(
            name: "x", folders: [FolderEntries()], files: [], spool: try SpoolFile(in: folder.path))
        for prefix in names.map({ $0 + "!" }).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let part = tree.add(members, prefix: prefix)
            #expect(part.parts.map(\.prefix) == [prefix])
        }
        for name in names {
            #expect(tree.part(of: name + "!")?.prefix == name + "!")
            #expect(tree.part(of: name + "!x/y!z")?.prefix == name + "!")
            #expect(tree.part(of: name) == nil || tree.part(of: name)?.prefix != name + "!")
            #expect(tree.base(of: name + "!") == name + "!")
            #expect(tree.base(of: name + "!x") == name + "!x/")
        }
        #expect(tree.part(of: "a") == nil)
        #expect(tree.part(of: "c.zip!") == nil)
        #expect(tree.part(of: "")?.prefix == nil)
    }
}
