import Capture
import Files
import Mozilla
import Telemetry
import Testing

/// Tests that an archive yields the same results as the folder that was packed.
@Suite struct ArchiveEqualityTests {
    /// Shell commands that pack a folder, with the suffixes of the archives.
    static let commands: [(suffix: String, command: String)] = [
        (".zip", #"bsdtar --format zip -cf "$0" ."#), (".zip", #"zip -qr "$0" ."#),
        (".zip", #"python3 -m zipfile -c "$0" ./*"#),
        (".tar", #"tar -cf "$0" ."#), (".tar", #"tar --format v7 -cf "$0" ."#),
        (".tar", #"tar --format pax -cf "$0" ."#), (".tar", #"tar -P -cf "$0" "$PWD" --transform "s,$PWD,/,""#),
        (".tgz", #"tar -czf "$0" ."#), (".tar.xz", #"tar -cJf "$0" ."#), (".tar.zst", #"tar --zstd -cf "$0" ."#),
        (".tar.bz2", #"bsdtar -cjf "$0" ."#), (".tar.lz4", #"bsdtar --lz4 -cf "$0" ."#),
        (".7z", #"bsdtar --format 7zip -cf "$0" ."#), (".cpio", #"find . | bsdcpio -o -H newc > "$0""#),
        (".cpio", #"find . -depth | bsdcpio -o -H odc > "$0""#),
        (".cpio.gz", #"find . | bsdcpio -o -z > "$0""#),
    ]

    private func expectEqual(_ fixture: FixtureCase, _ suffix: String, _ command: String) async throws {
        let folder = try await CapturedFolder(path: fixture.path, label: "capture", limit: JobLimit(jobs: 2))
        let archive = try TestArchive(of: fixture.path, named: fixture.name + suffix, command)
        let packed = try await archive.open()
        #expect(packed.stores.map(\.path) == folder.stores.map(\.path))
        #expect(packed.stores.map(\.container) == folder.stores.map(\.container))
        #expect(packed.isIncomplete == folder.isIncomplete)
        let (expected, found) = (try await ReadCapture(folder), try await ReadCapture(packed))
        #expect(found.lines == expected.lines)
        #expect(found.quarantined == expected.quarantined)
        #expect(found.problems == expected.problems)
        #expect(found.bytesRead == expected.bytesRead)
        for item in found.quarantined where item.isStored {
            #expect(try found.bytes(of: item)?.count == item.size)
        }
    }

    @Test("Every case yields the same results as a zip", arguments: try Fixtures.cases)
    func zip(fixture: FixtureCase) async throws {
        try await expectEqual(fixture, ".zip", #"bsdtar --format zip -cf "$0" ."#)
    }

    @Test("Every Glean case yields the same results as a tar", arguments: try GleanFixtures.cases)
    func glean(fixture: FixtureCase) async throws {
        try await expectEqual(fixture, ".tar", #"tar -cf "$0" ."#)
    }

    @Test("Every case yields the same results as a tar.zst", arguments: try Fixtures.cases)
    func tar(fixture: FixtureCase) async throws {
        try await expectEqual(fixture, ".tar.zst", #"tar --zstd -cf "$0" ."#)
    }

    @Test("One case yields the same results in every archive format", arguments: commands)
    func everyFormat(suffix: String, command: String) async throws {
        try await expectEqual(try Fixtures.named("focus-s3"), suffix, command)
    }

    @Test("The order of the members does not matter")
    func order() async throws {
        let members = [TestArchive.Member.ping(2), .ping(1), .ping(3)]
        let forth = try await ReadCapture(TestArchive("ustar", members).open())
        let back = try await ReadCapture(TestArchive("ustar", members.reversed()).open())
        #expect(forth.ids == [1, 2, 3].map(CaptureFolder.id))
        #expect(forth.lines == back.lines)
    }

    @Test("A cpio archive that ends with a stored zip archive is read as a cpio archive")
    func zipInCpio() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("phone.zip", try TestArchive("zip", [.ping(2)]).bytes)
        let archive = try TestArchive(of: folder.path, named: "a.cpio", #"find . | sort | bsdcpio -o -H newc > "$0""#)
        #expect(try await Set(ReadCapture(archive.open()).ids) == Set([1, 2].map(CaptureFolder.id)))
    }

    @Test("The name of an archive identifies the container that was packed")
    func nameOfTheRoot() async throws {
        let archive = try TestArchive("zip", [.ping(1)], name: "AppDomain-org.mozilla.ios.Focus")
        #expect(try await ReadCapture(archive.open()).records.map { $0.app?.id } == ["org.mozilla.ios.Focus"])
        let pings = try TestArchive("zip", [.file("1.json", CaptureFolder.ping(1))], name: "MozTelemetry-Default-core")
        #expect(try await ReadCapture(pings.open()).ids == [CaptureFolder.id(1)])
    }
}
