import CLibrary
import TestSupport
import Testing

@testable import Files

@Suite struct InputFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ path: String) -> FileError? {
        do {
            _ = try InputFile(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func bytesAreReadAtAnyOffset() throws {
        try folder.put("0123456789", "file")
        let file = try InputFile(path: "\(folder.path)/file")
        #expect(file.size == 10)
        for (offset, room, expected) in [(0, 4, "0123"), (8, 4, "89"), (10, 4, ""), (99, 4, ""), (3, 0, "")] {
            let bytes = try [UInt8](capacity: room) { output throws(FileError) in
                try file.read(at: offset, into: &output)
            }
            #expect(String(decoding: bytes, as: UTF8.self) == expected)
        }
    }

    @Test func negativeOffsetIsAnError() throws {
        try folder.put("0", "file")
        let file = try InputFile(path: "\(folder.path)/file")
        #expect(throws: FileError(.read, file.path, code: EINVAL)) {
            _ = try [UInt8](capacity: 4) { output throws(FileError) in
                try file.read(at: -1, into: &output)
            }
        }
    }

    @Test func contentsHaveALimit() throws {
        try folder.put("0123456789", "file")
        let file = try InputFile(path: "\(folder.path)/file")
        #expect(try file.contents(limit: 10).count == 10)
        #expect(throws: FileError(.read, file.path, code: EFBIG)) { try file.contents(limit: 9) }
    }

    @Test func growingFileIsReadCompletely() throws {
        try folder.put("0123456789", "file")
        let file = try InputFile(path: "\(folder.path)/file")
        try folder.put(String(repeating: "x", count: 100_000), "file")
        #expect(try file.contents(limit: 100_000).count == 100_000)
        #expect(throws: FileError.self) { try file.contents(limit: 99_999) }
    }

    @Test func emptyFileIsEmpty() throws {
        try folder.put("", "file")
        #expect(try InputFile(path: "\(folder.path)/file").contents(limit: 0) == [])
    }

    @Test func onlyRegularFilesAreAccepted() throws {
        let missing = "\(folder.path)/none"
        #expect(failure(missing)?.description == "cannot open \(missing): No such file or directory")
        #expect(failure(folder.path) == FileError(.read, folder.path, code: EISDIR))
        #expect(failure("/dev/null")?.code == ENOTSUP)
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        #expect(failure("\(folder.path)/pipe")?.code == ENOTSUP)
    }
}
