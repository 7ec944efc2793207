import CLibrary
import TestSupport
import Testing

@testable import Files

@Suite struct AtomicOutputTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/out.tar.zst"
    }

    private func write(_ text: String, replacing: Bool = false) throws {
        let output = try AtomicOutput(path: path, replacing: replacing)
        try output.write(Array(text.utf8).span)
        try output.commit()
    }

    @Test("names of the maximum length that differ in one letter have different temporary files")
    func longNames() throws {
        let stem = String(repeating: "n", count: 249)
        let paths = ["a", "b"].map { "\(folder.path)/\(stem)\($0)" }
        let first = try AtomicOutput(path: paths[0], replacing: false)
        let second = try AtomicOutput(path: paths[1], replacing: false)
        #expect(folder.names.allSatisfy { $0.hasPrefix(".") && $0.hasSuffix(".partial") && $0.utf8.count < 40 })
        #expect(failure(path: paths[0])?.isLocked == true)
        try first.write([1].span)
        try second.write([2].span)
        try first.commit()
        try second.commit()
        #expect(folder.names.sorted() == [stem + "a", stem + "b"])
    }

    private func failure(path: String, replacing: Bool = false) -> FileError? {
        do {
            _ = try AtomicOutput(path: path, replacing: replacing)
            return nil
        } catch {
            return error
        }
    }

    @Test func commitSetsNameAndPermissions() throws {
        try write("hello")
        #expect(folder.names == ["out.tar.zst"])
        #expect(try folder.text("out.tar.zst") == "hello")
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
    }

    @Test func fileExistsOnlyAfterCommit() throws {
        let output = try AtomicOutput(path: path, replacing: false)
        try output.write([1].span)
        #expect(folder.names == [".out.tar.zst.partial"])
        let partial = try InputFile(path: "\(folder.path)/.out.tar.zst.partial")
        #expect(partial.identity == output.identity)
        try output.commit()
    }

    @Test func discardingRemovesTheTemporaryFile() throws {
        do {
            let output = try AtomicOutput(path: path, replacing: false)
            try output.write([1].span)
        }
        #expect(folder.names == [])
    }

    @Test func existingFileIsRejectedImmediately() throws {
        try folder.put("old", "out.tar.zst")
        #expect(failure(path: path) == FileError(.create, path, code: EEXIST))
        #expect(folder.names == ["out.tar.zst"])
        #expect(try folder.text("out.tar.zst") == "old")
    }

    @Test func existingFileIsReplacedIfAllowed() throws {
        try folder.put("old", "out.tar.zst")
        try write("new", replacing: true)
        #expect(try folder.text("out.tar.zst") == "new")
        #expect(folder.names == ["out.tar.zst"])
    }

    @Test func fileCreatedMeanwhileIsKept() throws {
        #expect(throws: FileError(.create, path, code: EEXIST)) {
            let output = try AtomicOutput(path: path, replacing: false)
            try folder.put("theirs", "out.tar.zst")
            try output.commit()
        }
        #expect(try folder.text("out.tar.zst") == "theirs")
        #expect(folder.names == ["out.tar.zst"])
    }

    @Test func folderIsRejected() throws {
        let refused = FileError(.replace, folder.path, code: EISDIR)
        #expect(failure(path: folder.path, replacing: true) == refused)
        #expect(failure(path: folder.path) == refused)
        #expect(failure(path: folder.path + "/")?.code == EISDIR)
        #expect(failure(path: folder.path + "/..")?.code == EISDIR)
    }

    @Test func deviceAndLinkAreRejected() throws {
        #expect(
            failure(path: "/dev/null", replacing: true) == FileError(.replace, "/dev/null", code: ENOTSUP))
        try folder.put("x", "file")
        #expect(symlink("file", path) == 0)
        #expect(failure(path: path, replacing: true)?.code == ENOTSUP)
    }

    @Test func missingFolderIsReportedWithThePath() throws {
        let path = "\(folder.path)/none/out.tar.zst"
        let error = try #require(failure(path: path))
        #expect(error.description == "cannot create \(path): No such file or directory")
    }

    @Test func emptyPathIsRejected() {
        #expect(failure(path: "")?.code == ENOENT)
    }

    @Test func abandonedTemporaryFileIsEmptiedAndReused() throws {
        try folder.put("left by a killed run, and longer", ".out.tar.zst.partial")
        try write("new")
        #expect(try folder.text("out.tar.zst") == "new")
        #expect(folder.names == ["out.tar.zst"])
    }

    @Test func abandonedTemporaryFileWithAnotherLinkIsNotEmptied() throws {
        try folder.put("precious", "other")
        #expect(link("\(folder.path)/other", "\(folder.path)/.out.tar.zst.partial") == 0)
        try write("new")
        #expect(try folder.text("other") == "precious")
        #expect(try folder.text("out.tar.zst") == "new")
    }

    @Test func temporaryFileThatIsALinkIsRejected() throws {
        try folder.put("precious", "other")
        #expect(symlink("other", "\(folder.path)/.out.tar.zst.partial") == 0)
        #expect(failure(path: path)?.code == ELOOP)
        #expect(try folder.text("other") == "precious")
    }

    @Test func lockedTemporaryFileIsRejected() throws {
        let first = try AtomicOutput(path: path, replacing: false)
        let error = try #require(failure(path: path))
        #expect(error.operation == .lock)
        #expect(error.description.hasSuffix("out.tar.zst.partial: another run is writing it"))
        try first.write([7].span)
        try first.commit()
        #expect(folder.names == ["out.tar.zst"])
    }

    @Test func relativePathsWork() throws {
        // The current folder is not changed, because the tests share the process.
        let name = "pingferry-test-\(getpid()).tmp"
        defer { unlink(name) }
        let output = try AtomicOutput(path: name, replacing: false)
        #expect(access(".\(name).partial", F_OK) == 0)
        try output.commit()
        #expect(access(name, F_OK) == 0)
    }
}
