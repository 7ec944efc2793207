import Bundle
import Bytes
import Files
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of unusual, damaged and hostile archives.
@Suite struct HostileArchiveTests {
    private typealias Member = TestArchive.Member

    private func read(_ archive: TestArchive) async throws -> (ids: [String], problems: [String]) {
        let capture = try await archive.open()
        let found = try await ReadCapture(capture)
        return (found.ids, found.problems.map { "\($0.path): \($0.problem.code): \($0.problem.text)" })
    }

    private func reason(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: Names

    @Test("A path that leads out of the archive is reported and not read", arguments: ["zip", "ustar"])
    func climbing(format: String) async throws {
        let archive = try TestArchive(
            format, [.ping(1), .ping(2, in: "../\(corePings)"), .ping(3, in: "a/../../\(corePings)")])
        let found = try await read(archive)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "../\(corePings)/-t-2.json: unreadable: not read: the path leads out of the archive",
                "a/../../\(corePings)/-t-3.json: unreadable: not read: the path leads out of the archive",
            ])
    }

    @Test("An absolute path is read like a relative one", arguments: ["zip", "ustar", "pax"])
    func absolute(format: String) async throws {
        let archive = try TestArchive(format, [.ping(1, in: "/\(corePings)"), .ping(2, in: ".//\(corePings)/.")])
        let capture = try await archive.open()
        #expect(capture.stores.map(\.path) == [corePings])
        #expect(try await ReadCapture(capture).ids == [1, 2].map(CaptureFolder.id))
    }

    @Test(
        "The last of several members with the same path is read, and the loss of others is reported",
        arguments: ["zip", "gnu"])
    func duplicates(format: String) async throws {
        let name = "\(corePings)/-t-1.json"
        let archive = try TestArchive(
            format,
            [
                .file(name, "{"), .ping(2), .file("./\(name)", CaptureFolder.ping(7)), .ping(2), .file("a.txt", "x"),
                .file("a.txt", "y"),
            ])
        let found = try await read(archive)
        #expect(found.ids == [7, 2].map(CaptureFolder.id))
        #expect(
            found.problems == [
                "\(name): unreadable: several members of the archive have this name and other contents; "
                    + "only the last one is read"
            ])
    }

    // MARK: Directories of zip archives

    /// Changes the 32-bit number at `offset` in the last record with the signature `PK` and `type`.
    private func change(_ type: [UInt8], at offset: Int, in archive: TestArchive, _ body: (UInt32) -> UInt32) throws {
        try archive.change { bytes in
            guard let start = bytes.indices.last(where: { bytes[$0...].starts(with: Array("PK".utf8) + type) }) else {
                return
            }
            let place = start + offset..<start + offset + 4
            var number = body(bytes[place].reversed().reduce(0) { $0 << 8 | UInt32($1) })
            for index in place {
                bytes[index] = UInt8(truncatingIfNeeded: number)
                number >>= 8
            }
        }
    }

    @Test(
        "A zip whose directory does not lead to its members is read from front to back",
        arguments: [
            // The offset of the directory in the end record, its size, and the offset of a member in the directory.
            ([5, 6], 16, -200), ([5, 6], 16, 200), ([1, 2], 42, 7), ([1, 2], 42, 1 << 30),
        ] as [([UInt8], Int, Int)])
    func wrongDirectory(type: [UInt8], offset: Int, difference: Int) async throws {
        let archive = try TestArchive("zip", [.ping(1), .ping(2), .file("a.zip", "PK\u{7}\u{8}"), .ping(3)])
        try change(type, at: offset, in: archive) { UInt32(truncatingIfNeeded: Int($0) + difference) }
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == (1...3).map(CaptureFolder.id))
        #expect(
            capture.problems.filter { $0.path.isEmpty }.map(\.problem.text) == [
                "the central directory does not match the members, which were read from front to back"
            ])
        #expect(!capture.problems.contains { $0.path.isEmpty && $0.problem.isLoss })
    }

    @Test(
        "Bytes before the first member of a zip do not matter, even if its directory is wrong",
        arguments: [false, true])
    func prefix(hasWrongDirectory: Bool) async throws {
        let archive = try TestArchive("zip", [.ping(1), .ping(2)])
        if hasWrongDirectory { try change([5, 6], at: 16, in: archive) { $0 - 9 } }
        // A signature in a program is no member.
        let program =
            Array("MZ".utf8) + [UInt8](repeating: 0x90, count: 70_000) + [0x50, 0x4B, 3, 4]
            + [UInt8](repeating: 0xFF, count: 100)
        try archive.change { $0 = program + $0 }
        let found = try await read(archive)
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        let words = "the central directory does not match the members, which were read from front to back"
        #expect(found.problems == (hasWrongDirectory ? [": damaged: \(words)"] : []))
    }

    @Test("The last part of a split zip is named")
    func lastPart() async throws {
        let archive = try TestArchive("zip", [.ping(1)])
        try change([5, 6], at: 4, in: archive) { _ in 0x0001_0001 }
        try change([1, 2], at: 42, in: archive) { $0 + 7 }
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
        #expect(capture.problems.contains { $0.problem.text.contains("the last part of a split archive") })
    }

    @Test("A second tar archive after the end of the first one is a loss", arguments: ["cat", "gzip"])
    func concatenated(program: String) async throws {
        let archives = [try TestArchive("ustar", [.ping(1)]), try TestArchive("ustar", [.ping(2)])]
        let folder = try CaptureFolder()
        for count in [1, 2] {
            let commands = archives.prefix(count).map { "\(program) < \($0.path)" }.joined(separator: "; ")
            let (name, script) = ("\(count).tar", "(\(commands)) > \"$0\"")
            let capture = try await TestArchive(of: folder.path, named: name, script).open()
            #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
            #expect(
                capture.problems.map(\.problem.text)
                    == [
                        "not read: another tar archive after the end of this one; unpack the file with tar --ignore-zeros, "
                            + "and give the folder"
                    ].dropLast(2 - count))
            #expect(capture.isIncomplete == (count == 2))
        }
    }

    @Test("A directory with more entries than members means a loss")
    func missingMember() async throws {
        let archive = try TestArchive("stored", [.ping(1), .ping(2)])
        // The first local header is no longer one, so that its member is skipped.
        try archive.change { bytes in
            let second = bytes.indices.dropFirst().first { bytes[$0...].starts(with: [0x50, 0x4B, 3, 4]) }
            if let second { bytes[second + 2] = 9 }
        }
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
        #expect(capture.isIncomplete)
    }

    @Test("A file with the name of a folder is reported", arguments: [true, false])
    func clash(isFirst: Bool) async throws {
        let file = Member.file("Documents", "x")
        let found = try await read(TestArchive("ustar", isFirst ? [file, .ping(1)] : [.ping(1), file]))
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["Documents: unreadable: also the name of a folder in the archive"])
    }

    @Test("Names in a zip are decoded as UTF-8 or as code page 437")
    func names() async throws {
        func raw(_ folder: [UInt8], _ number: Int) -> Member {
            let bytes = folder + Array("/MozTelemetry-Default-core/-t-\(number).json".utf8)
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return Member(text: CaptureFolder.ping(number), raw: digits)
        }
        let archive = try TestArchive("zip", [raw([0x4A, 0x94, 0x72, 0x67], 1), raw(Array("Zoë".utf8), 2)])
        let capture = try await archive.open()
        #expect(capture.stores.map(\.path) == ["Jörg/MozTelemetry-Default-core", "Zoë/MozTelemetry-Default-core"])
        #expect(try await ReadCapture(capture).ids == [1, 2].map(CaptureFolder.id))
    }

    @Test("The resource forks that macOS adds are ignored")
    func resourceForks() async throws {
        let archive = try TestArchive(
            "zip",
            [
                .ping(1), .file("__MACOSX/\(corePings)/._-t-1.json", "x"), .file("\(corePings)/._-t-1.json", "x"),
                Member(name: "Library/Caches/MozTelemetry-core/", type: "dir"),
            ])
        let capture = try await archive.open()
        #expect(capture.stores.map(\.path) == [corePings, "Library/Caches/MozTelemetry-core"])
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
    }

    // MARK: Links and special files

    @Test("Symbolic links are reported as in a folder, and not followed", arguments: ["zip", "ustar"])
    func symbolicLinks(format: String) async throws {
        let archive = try TestArchive(
            format,
            [
                Member(name: "Library/MozTelemetry-Default-core", type: "symlink", link: "/etc"), .ping(1),
                Member(name: "\(corePings)/-t-2.json", type: "symlink", link: "-t-1.json"),
                Member(name: "evil", type: "symlink", link: "/tmp"), .file("evil/pings.json", "x"),
            ])
        let found = try await read(archive)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "evil: unreadable: also the name of a folder in the archive",
                "\(corePings)/-t-2.json: link: "
                    + "symbolic link to -t-1.json not followed; give that as a capture of its own",
                "Library/MozTelemetry-Default-core: link: "
                    + "symbolic link to /etc not followed; give that as a capture of its own",
            ])
    }

    @Test("Pipes and devices are reported and not read", arguments: ["fifo", "char", "block"])
    func special(type: String) async throws {
        let found = try await read(
            TestArchive("ustar", [.ping(1), Member(name: "\(corePings)/-t-2.json", type: type)]))
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "\(corePings)/-t-2.json: special: not read: a pipe, a socket or a device in the place of a file"
            ])
    }

    @Test("A member of unknown kind is treated as a file", arguments: ["M", "Z", "7"])
    func unknownType(type: String) async throws {
        let member = Member(name: "\(corePings)/-t-2.json", text: CaptureFolder.ping(2), type: type)
        let found = try await read(TestArchive("ustar", [.ping(1), member]))
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        #expect(found.problems == [])
    }

    @Test("A member without a name is reported")
    func withoutName() async throws {
        let members: [Member] = [.file("", CaptureFolder.ping(2)), Member(name: "./", type: "dir"), .ping(1)]
        let found = try await read(TestArchive("ustar", members))
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == [": unreadable: not read: the member at byte 0 has no name"])
    }

    @Test("The contents of a folder entry are reported")
    func folderWithContents() async throws {
        let folder = Member(name: "Documents", text: CaptureFolder.ping(2), type: "dir")
        let found = try await read(TestArchive("stored", [folder, .ping(1)]))
        let size = CaptureFolder.ping(2).utf8.count
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == ["Documents: unreadable: not read: \(size) bytes of contents in the entry of a folder"])
    }

    @Test("A second entry with the member of another entry is reported")
    func repeatedEntry() async throws {
        let archive = try TestArchive("stored", [.ping(1), .ping(2)])
        try archive.change { bytes in
            let entry = bytes.indices.last { bytes[$0...].starts(with: [0x50, 0x4B, 1, 2]) }
            // The offset of the member.
            if let entry { bytes.replaceSubrange(entry + 42..<entry + 46, with: [0, 0, 0, 0]) }
        }
        let found = try await read(archive)
        #expect(
            found.problems.contains(
                ": unreadable: not read: 1 entry at the bytes of other entries"))
    }

    @Test("Too many members, needed or not, are an error", arguments: ["zip", "ustar"])
    func manyMembers(format: String) throws {
        var limits = ArchiveLimits()
        // Two folders and two files.
        limits.memberCount = 4
        func read(_ members: [TestArchive.Member]) throws -> ArchiveSpooler.Result {
            let spooler = ArchiveSpooler(
                ArchiveLocation(label: "capture", path: "capture.tar"), spool: Spool(archiveLimits: limits),
                formats: CaptureFormats.all(Systems.table))
            return try spooler.spoolMembers(.source(ByteSource(try TestArchive(format, members).bytes)))
        }
        for members in [[TestArchive.Member.ping(1), .ping(2), .ping(3)], [.ping(1), .file("a", ""), .file("b", "")]] {
            #expect(throws: ArchiveError.self) { try read(members) }
        }
        #expect(try read([.ping(1), .ping(2)]).problems.isEmpty)
    }

    // MARK: Damage

    @Test("The members before a truncation are read", arguments: ["ustar", "zip", "stored"])
    func truncated(format: String) async throws {
        let archive = try TestArchive(format, (1...50).map { .ping($0) })
        let size = try archive.bytes.count
        // A position inside a block.
        try archive.change { $0.removeLast(size / 2 + 100) }
        let found = try await read(archive)
        #expect((5...45).contains(found.ids.count))
        #expect(found.ids == (1...found.ids.count).map(CaptureFolder.id))
        #expect(found.problems.contains { $0.contains("damaged at byte") })
    }

    @Test("A tar that is truncated between two members is detected", arguments: ["", "gzip -c", "zstd -qc"])
    func cutBetweenMembers(compress: String) async throws {
        let archive = try TestArchive("ustar", [.ping(1), .ping(2)])
        let member = 512 + (CaptureFolder.ping(1).utf8.count + 511) / 512 * 512
        try archive.change { $0.removeLast($0.count - member) }
        if !compress.isEmpty {
            try tool(["bash", "-c", #"\#(compress) "$0" > "$0.x" && mv "$0.x" "$0""#, archive.path])
        }
        let found = try await read(archive)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == [": damaged: the end of the archive is missing; members may be lost there"])
    }

    @Test("A member with a wrong checksum is reported, and the others are read")
    func checksum() async throws {
        let archive = try TestArchive("stored", (1...3).map { .ping($0) })
        try archive.change { bytes in
            let text = Array(CaptureFolder.id(2).utf8)
            let place = bytes.indices.first { bytes[$0...].starts(with: text) }
            if let place { bytes[place] ^= 1 }
        }
        let found = try await read(archive)
        #expect(found.ids == [1, 3].map(CaptureFolder.id))
        #expect(found.problems.count == 1)
        #expect(found.problems.first?.hasPrefix("\(corePings)/-t-2.json: damaged: ") == true)
    }

    @Test("A damaged tar header affects only its own member")
    func header() async throws {
        let archive = try TestArchive("ustar", (1...3).map { .ping($0) })
        let member = 512 + (CaptureFolder.ping(1).utf8.count + 511) / 512 * 512
        try archive.change { $0[member + 150] ^= 1 }
        let found = try await read(archive)
        #expect(found.ids == [1, 3].map(CaptureFolder.id))
        #expect(found.problems.count == 1)
        #expect(found.problems.first?.hasSuffix("; members are lost here") == true)
    }

    @Test("An encrypted member is reported")
    func encrypted() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("notes.txt", "x")
        let archive = try TestArchive(of: folder.path, named: "a.zip", #"zip -qr -P secret "$0" ."#)
        let found = try await read(archive)
        #expect(found.ids == [])
        #expect(
            found.problems == [
                "\(corePings)/-t-1.json: unreadable: encrypted; unpack the archive yourself and give the folder"
            ])
    }

    @Test(
        "A file that is not an archive is rejected",
        arguments: [[], Array("PK".utf8), Array("070701".utf8), [0x1F, 0x8B, 8, 0, 0, 0], Array("no archive".utf8)])
    func noArchive(bytes: [UInt8]) async throws {
        let archive = try TestArchive("zip", [])
        try archive.change { $0 = bytes }
        #expect(await reason { _ = try await archive.open() } != nil)
    }

    // MARK: Limits

    private var smallLimits: ArchiveLimits {
        var limits = ArchiveLimits()
        limits.uncheckedExpandedSize = 1 << 20
        limits.expansionRatio = 100
        limits.memberSize = 64 << 20
        limits.memberCount = 100
        return limits
    }

    @Test("A large sparse file that belongs to no store does not cause a rejection")
    func sparse() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.putSparse("map.data", size: 300 << 20)
        let archive = try TestArchive(of: folder.path, named: "a.tar.zst", #"tar --zstd -cf "$0" *"#)
        let found = try await read(archive)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == [])
    }

    @Test("A zip bomb is rejected", arguments: ["zip", "gz", "zst", "7z"])
    func bomb(kind: String) async throws {
        // Skipped members of a zip are not decompressed. In the other formats, all bytes are.
        let name = kind == "zip" ? "a.json" : "notes.txt"
        let folder = try CaptureFolder()
        try folder.putSparse(name, size: 48 << 20)
        try folder.put("z.json", "{}")
        let command = ["zip": #"zip -q "$0" *"#, "gz": #"tar -czf "$0" *"#, "zst": #"tar --zstd -cf "$0" *"#]
        let archive = try TestArchive(
            of: folder.path, named: "a.\(kind)", command[kind] ?? #"bsdtar --format 7zip -cf "$0" *"#)
        let reason = await reason { _ = try await archive.open(limits: smallLimits) }
        #expect(reason?.hasPrefix("expands beyond all measure") == true, "\(reason ?? "")")
    }

    @Test("Too many members are rejected", arguments: ["zip", "ustar"])
    func members(format: String) async throws {
        let archive = try TestArchive(format, (0..<101).map { .file("\($0).txt", "") })
        let reason = await reason { _ = try await archive.open(limits: smallLimits) }
        #expect(reason?.hasPrefix("more than 100 members") == true)
    }

    @Test("A path that is too long or too deep is reported")
    func longPath() async throws {
        let deep = String(repeating: "d/", count: 300) + "a.json"
        let long = String(repeating: "x", count: 5000) + ".json"
        let found = try await read(TestArchive("pax", [.ping(1), .file(deep, "{}"), .file(long, "{}")]))
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems.count == 2)
        #expect(found.problems.allSatisfy { $0.hasSuffix("not read: the path is too long or too deep") })
    }

    @Test("A store file that is too large is reported as in a folder")
    func largeMember() async throws {
        var limits = ArchiveLimits()
        limits.memberSize = 100
        let archive = try TestArchive("stored", [.ping(1), .file("\(corePings)/-t-2.json", "{}")])
        let capture = try await archive.open(limits: limits)
        let found = try await ReadCapture(capture)
        #expect(found.ids == [])
        #expect(found.problemCodes == ["\(corePings)/-t-1.json unreadable"])
        #expect(found.reasonCodes.count == 1)
    }

    @Test("A full spool causes an error")
    func spoolLimit() async throws {
        let archive = try TestArchive("ustar", (1...9).map { .ping($0) })
        let reason = await reason { _ = try await archive.open(spoolLimit: 2000) }
        #expect(reason == "cannot spool to /tmp: it would hold more than the limit")
    }
}
