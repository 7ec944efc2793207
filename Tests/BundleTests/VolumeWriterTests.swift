import Files
import Foundation
import Hashing
import TestSupport
import Testing

@testable import Bundle

/// Tests of writing volumes.
@Suite struct VolumeWriterTests {
    private let folder: TemporaryFolder
    private let size: VolumeSize

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        size = try #require(VolumeSize(text: "4K"))
    }

    /// Writes `count` bytes in pieces of the given size, and returns the volumes.
    @discardableResult
    private func write(_ count: Int, pieces: Int, replacing: Bool = false) throws -> [VolumeWriter.Volume] {
        let bytes = Self.bytes(count)
        var writer = try VolumeWriter(path: folder("a"), size: size, replacing: replacing)
        var done = 0
        while done < count {
            try writer.write(bytes[done..<min(done + pieces, count)].span)
            done += pieces
        }
        return try writer.commit()
    }

    /// Returns the error of committing the volumes.
    private static func failure(_ writer: consuming VolumeWriter) -> FileError? {
        do {
            _ = try writer.commit()
            return nil
        } catch {
            return error
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) } }

    @Test(
        "The sizes of volumes do not depend on the sizes of the pieces that are written",
        arguments: [
            (1, [1]), (4095, [4095]), (4096, [4096]), (4097, [4096, 1]), (8192, [4096, 4096]),
            (10000, [4096, 4096, 1808]),
        ], [1000, 4096, 100_000])
    func cuts(expected: (Int, [Int]), pieces: Int) throws {
        let volumes = try write(expected.0, pieces: pieces)
        #expect(volumes.map(\.size) == expected.1)
        let names = (1...volumes.count).map { "a.00\($0)" }
        #expect(folder.names == names + ["a.sha256"])
        let parts = try names.map { try folder.data($0) }
        #expect(parts.map(\.count) == expected.1)
        #expect(parts.reduce(Data(), +) == Data(Self.bytes(expected.0)))
        #expect(volumes.map(\.sha256) == parts.map { ContentHash(of: Array($0)) })
        try tool("env", "-C", folder.path, "sha256sum", "-c", "--strict", "--quiet", "a.sha256")
        #expect(try tool("stat", "-c", "%a", folder("a.001"), folder("a.sha256")) == "600\n600\n")
    }

    @Test("No file is visible before commit, and none remains without it")
    func nothingWithoutCommit() throws {
        do {
            var writer = try VolumeWriter(path: folder("a"), size: size, replacing: false)
            try writer.write(Self.bytes(9000).span)
            #expect(folder.names == [".a.volumes.partial"])
        }
        #expect(folder.names == [])
    }

    @Test("A bundle has at most 999 volumes")
    func count() throws {
        let most = 999 * 4096
        #expect(try write(most, pieces: 1 << 20).count == 999)
        try tool("find", folder.path, "-mindepth", "1", "-delete")
        let error = #expect(throws: FileError.self) { try write(most + 1, pieces: 1 << 20) }
        #expect(
            error?.description
                == "cannot create \(folder("a")).1000: a bundle can have at most 999 volumes; use a larger --volume-size"
        )
        #expect(folder.names == [])
    }

    @Test("Existing files are not replaced by default", arguments: ["a", "a.001", "a.002", "a.900", "a.sha256"])
    func existing(name: String) throws {
        try folder.put("mine", name)
        let error = #expect(throws: FileError.self) { try write(5000, pieces: 5000) }
        #expect(error == FileError(.create, folder(name), code: EEXIST))
        #expect(folder.names == [name])
        #expect(try folder.text(name) == "mine")
    }

    @Test("Replacing removes all files of the bundle and no others")
    func replacing() throws {
        try write(20000, pieces: 5000)
        #expect(folder.names == ["a.001", "a.002", "a.003", "a.004", "a.005", "a.sha256"])
        for name in ["a", "a.900"] { try folder.put("old", name) }
        let others = ["a.01", "a.0001", "a.b", "b.001", "a.txt"]
        for name in others { try folder.put("mine", name) }
        try write(5000, pieces: 5000, replacing: true)
        #expect(folder.names == (["a.001", "a.002", "a.sha256"] + others).sorted())
        #expect(try folder.data("a.001") + folder.data("a.002") == Data(Self.bytes(5000)))
    }

    @Test("Existing volumes and their list are identified, so that they are not read as input")
    func identities() throws {
        try write(20000, pieces: 5000)
        let existing = Set(folder.names.compactMap { FileIdentity(path: folder($0)) })
        #expect(existing.count == 6)
        try folder.put("mine", "b.001")
        let writer = try VolumeWriter(path: folder("a"), size: size, replacing: true)
        let identities = writer.identities
        #expect(identities == existing)
    }

    @Test("A folder is not replaced")
    func folders() throws {
        try folder.makeFolder("a.002")
        #expect(throws: FileError(.replace, folder("a.002"), code: EISDIR)) {
            try write(5000, pieces: 5000, replacing: true)
        }
        #expect(folder.names == ["a.002"])
    }

    @Test("If a file cannot be renamed, the previous files are restored")
    func failedRename() throws {
        try write(20000, pieces: 5000)
        let before = try folder.names.map { try folder.data($0) }
        var writer = try VolumeWriter(path: folder("a"), size: size, replacing: true)
        try writer.write(Self.bytes(9000).span)
        try folder.makeFolder("a.007")
        let error = Self.failure(writer)
        #expect(error == FileError(.replace, folder("a.007"), code: EISDIR))
        rmdir(folder("a.007"))
        #expect(folder.names == ["a.001", "a.002", "a.003", "a.004", "a.005", "a.sha256"])
        #expect(try folder.names.map { try folder.data($0) } == before)
    }

    @Test("A file that was created in the meantime is kept, and the new volumes are removed")
    func fileCreatedMeanwhile() throws {
        var writer = try VolumeWriter(path: folder("a"), size: size, replacing: false)
        try writer.write(Self.bytes(9000).span)
        try folder.put("mine", "a.001")
        let error = Self.failure(writer)
        #expect(error == FileError(.create, folder("a.001"), code: EEXIST))
        #expect(folder.names == ["a.001"])
        #expect(try folder.text("a.001") == "mine")
    }

    @Test("A concurrent run is rejected, and the files of a killed run are reused")
    func runs() throws {
        do {
            var first = try VolumeWriter(path: folder("a"), size: size, replacing: false)
            let error = #expect(throws: FileError.self) { try write(5000, pieces: 5000) }
            #expect(error?.isLocked == true)
            try first.write(Self.bytes(1).span)
        }
        try folder.put("left behind", ".a.volumes.partial/a.777")
        try write(5000, pieces: 5000)
        #expect(folder.names == ["a.001", "a.002", "a.sha256"])
    }

    @Test("The only copy of an older bundle that a killed run left is kept", arguments: [false, true])
    func former(replacing: Bool) throws {
        try folder.put("the only copy", ".a.volumes.partial/a.001.former")
        try folder.put("new", ".a.volumes.partial/a.001")
        let error = #expect(throws: FileError.self) { try write(5000, pieces: 5000, replacing: replacing) }
        #expect(error?.description.contains("move files named ….former to their old names") == true)
        #expect(folder.names == [".a.volumes.partial"])
        #expect(try folder.text(".a.volumes.partial/a.001.former") == "the only copy")
    }

    @Test("An older bundle is removed if its successor was complete before the run was killed")
    func formerAfterNames() throws {
        try folder.put("old", ".a.volumes.partial/a.001.former")
        try write(5000, pieces: 5000)
        #expect(folder.names == ["a.001", "a.002", "a.sha256"])
    }
}
