import TestSupport
import Testing

@testable import Files

/// Tests for the lookup of files in nested archives and backups.
@Suite struct FileTreeTests {
    @Test("a path belongs to the archive whose prefix it has, even among similar names")
    func parts() throws {
        let names = ["a.zip", "a b.zip", "a.zip0", "b/a.zip", "b.zip", "a.zi"]
        let folder = try TemporaryFolder()
        var tree = FileTree(try Folder(path: folder.path))
        let members = SpooledTree(
            name: "x", folders: [[]], files: [], links: [[]],
            byteStorage: .spool(try SpoolFile(in: folder.path))
        )
        for prefix in names.map({ $0 + "!" }).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let part = tree.add(members, prefix: prefix)
            #expect(part.parts.map(\.prefix) == [prefix])
        }
        for name in names {
            #expect(tree.part(of: name + "!")?.prefix == name + "!")
            #expect(tree.part(of: name + "!x/y!z")?.prefix == name + "!")
            #expect(tree.part(of: name) == nil || tree.part(of: name)?.prefix != name + "!")
            #expect(tree.entryPathPrefix(ofFolder: name + "!") == name + "!")
            #expect(tree.entryPathPrefix(ofFolder: name + "!x") == name + "!x/")
        }
        #expect(tree.part(of: "a") == nil)
        #expect(tree.part(of: "c.zip!") == nil)
        #expect(tree.part(of: "")?.prefix == nil)
    }

    @Test("the longest matching prefix is used, in any order of insertion")
    func nestedParts() throws {
        let folder = try TemporaryFolder()
        var tree = FileTree(try Folder(path: folder.path))
        let members = SpooledTree(
            name: "x", folders: [[]], files: [], links: [[]], byteStorage: .provider(Self.text))
        for prefix in ["a.zip!phone/", "b/", "a.zip!", "a.zip!phone0/", "a.zip!"] {
            _ = tree.add(members, prefix: prefix)
        }
        #expect(tree.parts.map(\.prefix) == ["a.zip!", "a.zip!phone/", "a.zip!phone0/", "b/"])
        let expected = [
            ("a.zip!phone/x/y", "a.zip!phone/"), ("a.zip!phone/", "a.zip!phone/"), ("a.zip!phone", "a.zip!"),
            ("a.zip!phone!x", "a.zip!"), ("a.zip!phone0/x", "a.zip!phone0/"), ("a.zip!zzz", "a.zip!"),
            ("a.zip", nil), ("b/c", "b/"), ("b", nil), ("b0", nil), ("c", nil),
        ]
        for (path, prefix) in expected { #expect(tree.part(of: path)?.prefix == prefix, "\(path)") }
    }

    // MARK: Files on disk

    @Test("a file is read completely if it does not exceed the limit", arguments: [0, 1, 100_000])
    func fileOfAnySize(_ size: Int) throws {
        let folder = try TemporaryFolder()
        let contents = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        try folder.put(String(decoding: contents, as: UTF8.self), "file")
        let read = try Folder(path: folder.path)
        let name = Array("file".utf8)
        var bytes: [UInt8] = [1]
        for limit in [size, size + 1, 1 << 40] {
            try read.read(name, limit: limit, into: &bytes)
            #expect(bytes == contents)
        }
        guard size > 0 else { return }
        let error = #expect(throws: FileError.self) { try read.readListed(name, limit: size - 1, into: &bytes) }
        #expect(error?.isTooLarge == true)
    }

    // MARK: Files with external contents

    /// Returns the text `file 3` for the number 3.
    ///
    /// Throws an error for the number 0.
    @Sendable private static func text(ofFile number: Int) throws(FileError) -> ByteSource {
        guard number > 0 else { throw FileError(.read, "zero", code: 61, message: "B28 not there") }
        return ByteSource(Array("file \(number)".utf8))
    }

    private func tree() throws -> FileTree {
        var builder = SpooledTreeBuilder()
        builder.addFile(try MemberPath(Array("a/none".utf8)), .external(0))
        builder.addFile(try MemberPath(Array("a/three".utf8)), .external(3))
        let (members, faults) = builder.finish(name: "backup", byteStorage: .provider(Self.text))
        #expect(faults.isEmpty)
        return FileTree(Folder(rootOf: members))
    }

    @Test("a file with external contents can be read completely or in part")
    func externalContents() throws {
        let tree = try tree()
        var bytes: [UInt8] = []
        let name = Array("a/three".utf8)
        try tree.root.folder.read(name, limit: 6, into: &bytes)
        #expect(bytes == Array("file 3".utf8))
        #expect(try tree.source(at: "a/three").bytes(at: 5, count: 9) == Array("3".utf8))
        #expect(throws: FileError.self) { try tree.root.folder.read(name, limit: 5, into: &bytes) }
    }

    @Test("the error of a file with external contents is passed on unchanged")
    func externalError() throws {
        let tree = try tree()
        do throws(FileError) {
            _ = try tree.source(at: "a/none")
            Issue.record("the missing file was found")
        } catch {
            #expect(error.description == "B28 not there")
            #expect(error.code == 61)
        }
    }

    /// A repeating sequence of the digits 0 to 9.
    private struct Digits: ByteProvider {
        func isUnchanged(checkingPath checksPath: Bool) -> Bool { true }

        let count: Int

        func read(at offset: Int, into output: inout OutputSpan<UInt8>) {
            for index in offset..<count where !output.isFull { output.append(UInt8(ascii: "0") + UInt8(index % 10)) }
        }
    }

    @Test("computed bytes are read like others and end at their count")
    func computedBytes() throws {
        let source = ByteSource(Digits(count: 25))
        #expect(source.count == 25)
        #expect(try source.bytes(at: 8, count: 4) == Array("8901".utf8))
        #expect(try source.bytes(at: 23, count: 9) == Array("34".utf8))
        #expect(try source.bytes(at: 25, count: 9) == [])
        #expect(try source.bytes(at: -1, count: 9) == [])
        let copy = try source.copied(to: "/tmp")
        let copied = try [UInt8](capacity: 40) { output throws(FileError) in try copy.read(at: 0, into: &output) }
        #expect(copied == (0..<25).map { UInt8(ascii: "0") + UInt8($0 % 10) })
    }
}
