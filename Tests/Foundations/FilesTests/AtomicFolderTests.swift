import CLibrary
import TestSupport
import Testing

@testable import Files

@Suite struct AtomicFolderTests {
    private let folder: TemporaryFolder
    private let path: String
    private static let names = ["a.csv", "b.csv"]

    init() throws {
        folder = try TemporaryFolder()
        path = folder("out")
    }

    private func write(_ text: String, replacing: Bool = false, path: String? = nil) throws {
        let output = try AtomicFolder(path: path ?? self.path, files: Self.names, replacing: replacing)
        try output.write(Array(text.utf8).span, to: 0)
        try output.write(Array("\(text)!".utf8).span, to: 1)
        try output.write(Array("!".utf8).span, to: 1)
        try output.commit()
    }

    private func failure(replacing: Bool = false) -> FileError? {
        do {
            _ = try AtomicFolder(path: path, files: Self.names, replacing: replacing)
            return nil
        } catch {
            return error
        }
    }

    @Test("commit renames the folder, with any number of trailing slashes in the path", arguments: ["", "/", "///"])
    func commit(slashes: String) throws {
        try write("hello", path: path + slashes)
        #expect(folder.names == ["out"])
        #expect(try folder.text("out/a.csv") == "hello")
        #expect(try folder.text("out/b.csv") == "hello!!")
        var status = stat()
        #expect(lstat("\(path)/a.csv", &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o700)
    }

    @Test func folderExistsOnlyAfterCommit() throws {
        do {
            let output = try AtomicFolder(path: path, files: Self.names, replacing: false)
            try output.write(Array("x".utf8).span, to: 0)
            #expect(folder.names == [".out.partial"])
            #expect(output.identities.count == 2)
        }
        #expect(folder.names == [])
    }

    @Test func existingFolderIsReplacedOnlyIfAllowed() throws {
        try write("old")
        #expect(failure() == FileError(.create, path, code: EEXIST))
        try write("new", replacing: true)
        #expect(try folder.text("out/a.csv") == "new")
        #expect(folder.names == ["out"])
    }

    @Test func folderWithOtherFilesIsNotReplaced() throws {
        try write("old")
        try folder.put("mine", "out/c.csv")
        #expect(failure(replacing: true) == FileError(.replace, path, code: ENOTEMPTY))
        #expect(try folder.text("out/a.csv") == "old")
        #expect(folder.names == ["out"])
    }

    @Test func fileIsNotReplaced() throws {
        try folder.put("mine", "out")
        #expect(failure() == FileError(.create, path, code: EEXIST))
        #expect(failure(replacing: true) == FileError(.replace, path, code: ENOTDIR))
    }

    @Test func lockedFolderIsRejectedAndAbandonedFolderIsReused() throws {
        do {
            let first = try AtomicFolder(path: path, files: Self.names, replacing: false)
            #expect(failure()?.isLocked == true)
            try first.write(Array("x".utf8).span, to: 0)
        }
        try folder.put("left behind", ".out.partial/a.csv")
        try write("again")
        #expect(try folder.text("out/a.csv") == "again")
        #expect(folder.names == ["out"])
    }

    @Test func unknownFilesInTheTemporaryFolderAreKept() throws {
        try folder.put("mine", ".out.partial/c.csv")
        #expect(failure()?.code == ENOTEMPTY)
        #expect(try folder.text(".out.partial/c.csv") == "mine")
    }

    @Test func folderCreatedMeanwhileIsKept() throws {
        let output = try AtomicFolder(path: path, files: Self.names, replacing: false)
        try folder.put("mine", "out/c.csv")
        var failure: FileError?
        do { try output.commit() } catch { failure = error }
        #expect(failure == FileError(.create, path, code: EEXIST))
        #expect(folder.names == ["out"])
        #expect(try folder.text("out/c.csv") == "mine")
    }

    /// A file in the replaced folder cannot be removed, because it is a mount point.
    @Test(.enabled(if: SmallDisk.isSupported, "only root can mount"))
    func newFilesStayIfTheReplacedFolderCannotBeRemoved() throws {
        try write("old")
        try folder.put("mounted", "other")
        let output = try AtomicFolder(path: path, files: Self.names, replacing: true)
        try output.write(Array("new".utf8).span, to: 0)
        try tool("mount", "--bind", folder("other"), folder("out/b.csv"))
        var failure: FileError?
        do { try output.commit() } catch { failure = error }
        try tool("umount", "-l", folder(".out.partial/b.csv"))
        #expect(failure?.operation == .remove)
        #expect(failure?.message.contains("the new files are in \(path)") == true)
        #expect(folder.names == [".out.partial", "other", "out"])
        #expect(try folder.text("out/a.csv") == "new")
        // The next run empties the temporary folder and replaces the output.
        try write("newer", replacing: true)
        #expect(try folder.text("out/a.csv") == "newer")
        #expect(folder.names == ["other", "out"])
    }

    @Test("A private folder is created with the folders that contain it, unless a file is in its place")
    func privateFolder() throws {
        let path = folder("a/b//c")
        for _ in 1...2 { try PrivateFolder.create(path + "/") }
        for name in ["a", "a/b", "a/b/c"] {
            var status = stat()
            #expect(stat(folder(name), &status) == 0 && status.st_mode & 0o7777 == 0o700, "\(name)")
        }
        try folder.put("", "file")
        let blocked = folder("file/d")
        #expect(throws: FileError(.create, blocked, code: ENOTDIR)) { try PrivateFolder.create(blocked) }
        #expect(throws: FileError(.create, "", code: ENOENT)) { try PrivateFolder.create("") }
    }
}
