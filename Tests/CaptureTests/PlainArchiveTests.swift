import Files
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests that the fast archive reader produces the same results as libarchive.
@Suite struct PlainArchiveTests {
    private func spooler(_ spool: Spool = Spool()) -> ArchiveSpooler {
        ArchiveSpooler(
            ArchiveLocation(label: "capture", path: "capture.tar"), spool: spool,
            formats: CaptureFormats.all(Systems.table), jobLimit: JobLimit(jobs: 2))
    }

    /// Returns the results of the plain reading, or `nil` if the archive is not plain.
    ///
    /// Checks that libarchive yields the same.
    private func readPlain(_ bytes: [UInt8], _ what: String = "") async throws -> [String]? {
        guard let found = try await spooler().readPlain(ByteSource(bytes)) else { return nil }
        let expected = try spooler().readWithLibarchive(.source(ByteSource(bytes)))
        let lines = try listing(of: found.tree)
        let differences = try listing(of: expected.tree).difference(from: lines).map { "\($0)".prefix(200) }
        #expect(differences == [], "\(what)")
        #expect(found.problems.map(\.problem.text) == expected.problems.map(\.problem.text), "\(what)")
        return lines
    }

    @Test(
        "Archives of common programs are read by the plain reader as expected",
        arguments: [
            (#"bsdtar --format zip -cf "$0" ."#, true), (#"zip -qr "$0" ."#, true), (#"zip -q0r "$0" ."#, true),
            (#"python3 -m zipfile -c "$0" ./*"#, true), (#"zip -qr -fz "$0" ."#, true),
            (#"tar -cf "$0" ."#, true), (#"tar --format pax -cf "$0" ."#, true),
            (#"tar --format ustar -cf "$0" ."#, true),
            (#"bsdtar -cf "$0" ."#, true), (#"bsdtar --format pax --xattrs -cf "$0" ."#, true),
            (#"tar -czf "$0" ."#, true),
            (#"tar -cJf "$0" ."#, true), (#"tar --zstd -cf "$0" ."#, true),
            (#"tar -cf - . | gzip | zstd -q > "$0""#, true),
            (
                #"python3 -c 'import sys, tarfile; tar = tarfile.open(sys.argv[1], "w"); tar.add("."); tar.close()' "$0""#,
                true
            ),
            (#"tar --format v7 -cf "$0" ."#, false), (#"bsdtar --format 7zip -cf "$0" ."#, false),
            (#"find . | bsdcpio -o -H newc > "$0""#, false),
            (#"bsdtar --format zip --options zip:encryption --passphrase x -cf "$0" ."#, false),
            (#"zip -qr "$0" . && echo comment | zip -qz "$0""#, false),
            (#"(echo program; zip -qr - .) > "$0""#, false),
            (#"tar -cf "$0" . && truncate -s -10240 "$0""#, false),
        ])
    func packed(command: String, isPlain: Bool) async throws {
        let archive = try TestArchive(of: try Fixtures.named("focus-s3").path, named: "capture.zip", command)
        let found = try await readPlain(archive.bytes)
        #expect((found != nil) == isPlain)
    }

    private typealias Member = TestArchive.Member

    @Test(
        "Unusual members yield the same results in both readers", arguments: ["zip", "stored", "ustar", "gnu", "pax"])
    func unusualMembers(format: String) async throws {
        let long = String(repeating: "long/", count: 30)
        var members: [Member] = [
            .ping(1), .file("MozTelemetry-Default-core/-t-2.json", ""), .ping(3, in: "./a//./\(corePings)"),
            .ping(4, in: "../climbs"), .file("other.jpg", String(repeating: "x", count: 3000)), .ping(1),
            .file("__MACOSX/MozTelemetry-Default-core/._-t-1.json", "x"), .ping(5, in: "Z\u{fc}rich/\(corePings)"),
            Member(name: "empty/", type: "dir"),
        ]
        if format != "ustar" { members.append(.ping(6, in: long + corePings)) }
        let found = try await readPlain(TestArchive(format, members).bytes)
        #expect(try #require(found).count > 8)
    }

    @Test("Archives with features beyond the plain format are read by libarchive", arguments: ["zip", "ustar"])
    func notPlain(format: String) async throws {
        let link = Member(name: "link", type: format == "zip" ? "symlink" : "hardlink", link: "\(corePings)/-t-1.json")
        let found = try await readPlain(TestArchive(format, [.ping(1), link]).bytes)
        #expect(found == nil)
    }

    @Test(
        "Large members are read piece by piece, and unneeded ones are skipped",
        arguments: ["zip", "stored", "gnu"])
    func large(format: String) async throws {
        let members = [
            .ping(1), Member(name: "other.jpg", size: 20 << 20), Member(name: "\(corePings)/-t-2.json", size: 3 << 20),
            .ping(3),
        ]
        let found = try await readPlain(TestArchive(format, members).bytes)
        #expect(try #require(found).count > 4)
    }

    @Test("A change of any byte never makes the readers differ", arguments: ["zip", "stored", "ustar", "pax"])
    func changed(format: String) async throws {
        let archive = try TestArchive(format, [.ping(1), .ping(2, in: "\u{e4}/\(corePings)"), .file("other", "x")])
            .bytes
        var plain = 0
        // A tar ends with zeros that are not read.
        for place in 0...(try #require(archive.lastIndex { $0 != 0 })) {
            var bytes = archive
            bytes[place] ^= 1 << UInt8(place % 8)
            // If libarchive reads nothing because of the damage, the plain reader must not read anything either.
            if (try? await readPlain(bytes, "byte \(place)")) != nil { plain += 1 }
        }
        // Changes of times and permissions have no effect.
        #expect(plain > 0)
        #expect(plain < archive.count)
    }

    @Test("A full spool causes the same error in both readers", arguments: ["zip", "ustar"])
    func fullSpool(format: String) async throws {
        let bytes = try TestArchive(format, [.ping(1), .ping(2)]).bytes
        await #expect(throws: ArchiveError.self) {
            _ = try await spooler(Spool(byteLimit: 100)).readPlain(ByteSource(bytes))
        }
    }

    @Test("Too many members, needed or not, cause the same error in both readers", arguments: ["zip", "ustar"])
    func manyMembers(format: String) async throws {
        var limits = ArchiveLimits()
        // Two folders and two files.
        limits.memberCount = 4
        for members in [[Member.ping(1), .ping(2), .ping(3)], [.ping(1), .file("a", ""), .file("b", "")]] {
            let source = ByteSource(try TestArchive(format, members).bytes)
            await #expect(throws: ArchiveError.self) {
                _ = try await spooler(Spool(archiveLimits: limits)).readPlain(source)
            }
            #expect(throws: ArchiveError.self) {
                _ = try spooler(Spool(archiveLimits: limits)).readWithLibarchive(.source(source))
            }
        }
        let source = ByteSource(try TestArchive(format, [.ping(1), .ping(2)]).bytes)
        let found = try await spooler(Spool(archiveLimits: limits)).readPlain(source)
        #expect(found != nil)
    }

    @Test("Nothing remains in the spool if an archive is not plain")
    func dropped() async throws {
        let bytes = try TestArchive("ustar", [.ping(1), Member(name: "pipe", type: "fifo")]).bytes
        let spool = Spool()
        let found = try await spooler(spool).readPlain(ByteSource(bytes))
        #expect(found == nil)
        #expect(spool.endOffset == 0)
    }
}
