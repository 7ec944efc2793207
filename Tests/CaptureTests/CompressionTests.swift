import Bundle
import Capture
import Files
import Systems
import TestSupport
import Testing

/// Tests of compressed archives, including nested compressions.
@Suite struct CompressionTests {
    private func pings(_ command: String, named name: String = "a.tgz") throws -> TestArchive {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        return try TestArchive(of: folder.path, named: name, command)
    }

    /// Creates an archive of ten thousand nested gzip files.
    private func endlesslyNested(named name: String = "a.tgz") throws -> TestArchive {
        try pings(
            #"""
            python3 -c '
            import sys, zlib
            inner = b""
            for _ in range(10000):
                layer = zlib.compressobj(level=0, wbits=31)
                inner = layer.compress(inner) + layer.flush()
            open(sys.argv[1], "wb").write(inner)
            ' "$0"
            """#, named: name)
    }

    private func openingError(of archive: TestArchive) async -> String? {
        do {
            _ = try await archive.open()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "A tar with one or two compressions is read",
        arguments: [
            "gzip", "xz", "zstd -q", "bzip2", "lz4 -q", "gzip | gzip", "xz | gzip", "gzip | zstd -q", "lz4 | xz",
        ])
    func levels(compression: String) async throws {
        let archive = try pings(#"tar -c . | \#(compression) > "$0""#)
        let found = try await ReadCapture(archive.open())
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == [])
    }

    /// Each format has a checksum after the contents.
    ///
    /// In the last one, it is far behind the end of the tar.
    @Test(
        "Changing one bit of compressed data never changes a record without a problem",
        arguments: [
            "tar -c . | gzip", "tar -c . | lz4 -q", "tar -c . | xz", "tar -c . | bzip2", "tar -c . | zstd -q --check",
            "(tar -c .; head -c 400000 /dev/zero) | zstd -q --check", "tar -c . | lz4 -q | gzip -1",
        ])
    func changedBits(packing: String) async throws {
        let archive = try pings("(\(packing)) > \"$0\"")
        let bytes = try archive.bytes
        let whole = try await ReadCapture(archive.open())
        #expect(whole.problems == [])
        var found = 0
        for bit in stride(from: 0, to: bytes.count * 8, by: max(bytes.count * 8 / 60, 1)) {
            try archive.change { changed in
                changed = bytes
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            guard let capture = try? await archive.open() else {
                found += 1
                continue
            }
            let read = try await ReadCapture(capture)
            let isReported = capture.isIncomplete || !read.problems.isEmpty || !capture.problems.isEmpty
            #expect(read.lines == whole.lines || isReported, "bit \(bit)")
            if isReported { found += 1 }
        }
        #expect(found > 30)
    }

    @Test("An archive with a wrong checksum is rejected as a whole", arguments: ["gzip", "zstd -q --check", "lz4 -q"])
    func wrongChecksum(compression: String) async throws {
        let archive = try pings(#"tar -c . | \#(compression) > "$0""#)
        // The checksum is at the end, in gzip before the length.
        try archive.change { $0[$0.count - (compression == "gzip" ? 8 : 1)] ^= 1 }
        let message = try #require(await openingError(of: archive))
        #expect(message.hasPrefix("damaged at byte "), "\(message)")
    }

    @Test("Concatenated gzip members with trailing zeros are read")
    func joinedMembers() async throws {
        let archive = try pings(
            #"tar -cf all . && split -b 1500 all part. && gzip part.* && (cat part.*.gz; head -c 5000 /dev/zero) > "$0""#
        )
        let found = try await ReadCapture(archive.open())
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == [])
    }

    @Test(
        "Bytes after the end of compressed data are ignored and counted",
        arguments: ["gzip", "xz", "zstd -q", "bzip2", "lz4 -q", "gzip | xz"], [#"\r\n"#, #"\000\000x"#, #"PowerShell"#])
    func trailingBytes(compression: String, bytes: String) async throws {
        let archive = try pings(#"(tar -c . | \#(compression); printf '\#(bytes)') > "$0""#)
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
        #expect(!capture.isIncomplete)
        let isCounted = !["bzip2", "lz4 -q"].contains(compression)
        let count = bytes.hasPrefix("P") ? 10 : bytes.hasSuffix("x") ? 1 : 2
        #expect(
            capture.problems.map(\.problem.text)
                == (isCounted ? ["\(count.counted("byte")) after the end of the compressed archive were ignored"] : []))
    }

    @Test("A tar compressed with zstd that is too damaged to be read is not called a bundle")
    func damagedZstd() async throws {
        let archive = try pings(#"tar -c . | zstd -q > "$0""#, named: "a.tar.zst")
        try archive.change { $0.replaceSubrange(8..<40, with: [UInt8](repeating: 0xFF, count: 32)) }
        let opening = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        let error = await #expect(throws: InputError.self) { _ = try await opening.open([archive.path]) }
        #expect(error?.message.contains("bundle") == false)
    }

    @Test("A tar that ends as a zip is read as a tar", arguments: ["tar -cf", "tar --sparse -cf"])
    func twoFormats(packing: String) async throws {
        let archive = try pings(
            #"\#(packing) "$0" . && echo x > x && python3 -m zipfile -c "$0.zip" x && cat "$0.zip" >> "$0""#,
            named: "a.tar")
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
        #expect(capture.problems.map(\.problem.code) == ["two-formats"])
    }

    @Test(
        "The zeros that a sparse file in a tar ends with are read",
        arguments: ["gnu", "pax --sparse-version=0.0", "pax --sparse-version=0.1", "pax --sparse-version=1.0"])
    func sparseFiles(format: String) async throws {
        let folder = try CaptureFolder()
        let ping = CaptureFolder.ping(1)
        try folder.put("\(corePings)/-t-1.json", ping)
        try folder.putSparse("\(corePings)/-t-2.json", size: 2 << 20)
        try folder.put("\(corePings)/-t-3.json", ping)
        try tool("truncate", "--size=2M", "\(folder.path)/\(corePings)/-t-3.json")
        let archive = try TestArchive(
            of: folder.path, named: "a.tar", "tar --sparse --format \(format) -cf \"$0\" .")
        let expected = try await ReadCapture(folder.open())
        #expect(expected.quarantined.map(\.size) == [2 << 20, 2 << 20])
        let found = try await ReadCapture(archive.open())
        #expect(found.lines == expected.lines)
        #expect(found.quarantined == expected.quarantined)
    }

    @Test("Three nested compressions are rejected", arguments: ["gzip | gzip | gzip", "xz | zstd -q | gzip"])
    func threeLevels(compression: String) async throws {
        let archive = try pings(#"tar -c . | \#(compression) > "$0""#)
        #expect(await openingError(of: archive) == "more than 2 compressions, one in the other")
    }

    @Test("Endlessly nested gzip data is rejected")
    func gzipWithoutEnd() async throws {
        #expect(await openingError(of: try endlesslyNested()) == "more than 2 compressions, one in the other")
    }

    @Test("Endlessly nested gzip data in a folder is reported, and the other files are read")
    func gzipWithoutEndInFolder() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("backup.tgz", try endlesslyNested().bytes)
        let capture = try await folder.open()
        #expect(
            capture.problems.map { "\($0.path): \($0.problem.text)" }
                == ["backup.tgz: not read: more than 2 compressions, one in the other"])
        #expect(capture.isIncomplete)
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
    }

    @Test(
        "A compressed empty file is reported as such",
        arguments: ["gzip", "xz", "zstd -q", "bzip2", "lz4 -q", "gzip | xz"])
    func empty(compression: String) async throws {
        let archive = try pings("head -c 0 /dev/zero | \(compression) > \"$0\"")
        #expect(await openingError(of: archive) == "an empty file was compressed")
    }

    @Test("Zstd data with a skippable frame at its start is recognized")
    func skippableFrame() async throws {
        let archive = try pings(#"(printf 'P*M\030\004\000\000\000abcd'; tar -c . | zstd -q) > "$0""#, named: "a")
        guard case .archive = InputKind(head: try archive.bytes) else {
            Issue.record("not recognized")
            return
        }
        #expect(try await ReadCapture(archive.open()).ids == [CaptureFolder.id(1)])
    }

    /// A frame header with a window of 256 MiB, and a block of one byte.
    @Test("Zstd data with an oversized window is reported as such")
    func largeWindow() async throws {
        let archive = try pings(#"printf '\050\265\057\375\000\220\011\000\000x' > "$0""#)
        guard case .archive = InputKind(head: try archive.bytes) else {
            Issue.record("not recognized")
            return
        }
        #expect(await openingError(of: archive) == "compressed with zstd and a window of more than 128 MiB")
    }

    @Test(
        "Unsupported formats are named in the error",
        arguments: [
            ("bsdtar --format 7zip -c . | gzip", "a 7z archive inside a compressed file"),
            ("printf 'Rar!\\032\\007\\001'", "a RAR archive"), ("printf 'xar!'", "a xar archive"),
            ("bsdtar --format iso9660 -c .", "an ISO 9660 image"), ("printf LZIP", "a file compressed with lzip"),
            ("printf LZIP | gzip", "a file compressed with lzip"),
        ])
    func unsupported(packing: String, name: String) async throws {
        let archive = try pings("\(packing) > \"$0\"", named: "a")
        guard case .archive = InputKind(head: try archive.bytes) else {
            Issue.record("not recognized")
            return
        }
        #expect(await openingError(of: archive) == "\(name), which cannot be read")
    }

    @Test("An unsupported compression method is named, and the other members are read")
    func unsupportedMethod() async throws {
        let archive = try TestArchive("zip", [.ping(1), .ping(2)])
        try archive.change { bytes in
            for place in bytes.indices.dropLast(4) where bytes[place...].starts(with: [0x50, 0x4B, 3, 4]) {
                bytes[place + 8] = 9
                break
            }
            if let entry = bytes.indices.first(where: { bytes[$0...].starts(with: [0x50, 0x4B, 1, 2]) }) {
                bytes[entry + 10] = 9
            }
        }
        let capture = try await archive.open()
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(2)])
        #expect(
            capture.problems.map { "\($0.problem.code): \($0.problem.text)" } == [
                "unreadable: not read: Unsupported ZIP compression method (9: deflation-64-bit); "
                    + "unpack the archive yourself and give the folder"
            ])
    }

    @Test("Three nested zstd frames are treated as an archive, whose error explains why it is not read")
    func zstdLevels() throws {
        let archive = try pings(#"tar -c . | zstd -q | zstd -q | zstd -q > "$0""#)
        guard case .archive = InputKind(head: try archive.bytes) else {
            Issue.record("taken for something else")
            return
        }
    }

    @Test("A tar without a POSIX signature is recognized by its checksum")
    func oldTar() async throws {
        let archive = try pings(#"tar --format v7 -cf "$0" ."#, named: "a")
        let bytes = try archive.bytes
        guard case .archive = InputKind(head: bytes) else {
            Issue.record("not known")
            return
        }
        #expect(try await ReadCapture(archive.open()).ids == [CaptureFolder.id(1)])
        var nameless = bytes
        // The checksum, except for the bytes of the name.
        let sum = (0..<512).reduce(0) { (148..<156).contains($1) ? $0 + 32 : $1 < 100 ? $0 : $0 + Int(bytes[$1]) }
        nameless.replaceSubrange(0..<100, with: repeatElement(0, count: 100))
        nameless.replaceSubrange(148..<156, with: "000\(String(sum, radix: 8))\0 ".utf8.suffix(8))
        guard case .archive = InputKind(head: nameless) else {
            Issue.record("not known without a name")
            return
        }
        var damaged = bytes
        damaged[0] ^= 1
        guard case .other = InputKind(head: damaged) else {
            Issue.record("known without its checksum")
            return
        }
        guard case .other = InputKind(head: [UInt8](repeating: 0, count: 1024)) else {
            Issue.record("nothing is no header")
            return
        }
    }
}
