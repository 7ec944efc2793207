import CLibrary
import TestSupport
import Testing

@testable import Files

@Suite struct FileErrorTests {
    @Test("Only a lack of resources is recorded, and only for the folder that lacks them")
    func resourceExhaustion() throws {
        let folder = try TemporaryFolder()
        let first = try Folder(path: folder.path)
        let second = try Folder(path: folder.path)
        _ = first.exhaustion.recorded(FileError(.open, "a", code: ENOENT))
        try first.exhaustion.check()
        for (name, code) in [("b", EMFILE), ("c", ENFILE)] {
            #expect(first.exhaustion.recorded(FileError(.open, name, code: code)).path == name)
        }
        #expect(throws: FileError(.open, "b", code: EMFILE)) { try first.exhaustion.check() }
        try second.exhaustion.check()
    }

    @Test("A folder shares the record of the folder from which it was opened")
    func sharedRecord() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("a/b")
        let tree = FileTree(try Folder(path: folder.path))
        _ = try tree.folder(at: "a").folder(at: "b").exhaustion.recorded(FileError(.open, "x", code: EMFILE))
        #expect(throws: FileError(.open, "x", code: EMFILE)) { try tree.checkResources() }
    }
}
