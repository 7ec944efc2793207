import Bytes
import Capture
import Files
import Mozilla
import Telemetry
import Testing

/// Tests of archives inside captures.
@Suite struct NestedArchiveTests {
    let folder: CaptureFolder

    /// A folder with a ping, and an archive with another ping.
    init() throws {
        folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("backups/AppDomain-org.mozilla.ios.Focus.zip", try Self.archive(2).bytes)
    }

    private static func archive(_ number: Int) throws -> TestArchive {
        try TestArchive("zip", [.ping(number), .file("Documents/MozTelemetry-Default-core.json", "[]")])
    }

    private func packed(_ command: String = #"tar -czf "$0" ."#) throws -> TestArchive {
        try TestArchive(of: folder.path, named: "capture.tgz", command)
    }

    @Test("The stores of a nested archive belong to the capture, with paths inside the archive")
    func stores() async throws {
        let prefix = "backups/AppDomain-org.mozilla.ios.Focus.zip!"
        let paths = [corePings, prefix + corePings, prefix + "Documents/MozTelemetry-Default-core.json"]
        for capture in [try await folder.open(), try await packed().open()] {
            #expect(capture.stores.map(\.path) == paths)
            #expect(capture.stores.map(\.container.path) == ["", prefix, prefix])
            let found = try await ReadCapture(capture)
            #expect(found.ids == [1, 2].map(CaptureFolder.id))
            #expect(found.records.map(\.source.path) == ["\(paths[0])/-t-1.json", "\(paths[1])/-t-2.json"])
            #expect(found.records.map { $0.app?.id } == [nil, "org.mozilla.ios.Focus"])
            #expect(found.problems == [])
        }
    }

    @Test("A ping folder that was packed itself is recognized by the name of the archive")
    func pingFolder() async throws {
        let pings = try TestArchive("ustar", [.file("-t-3.json", CaptureFolder.ping(3)), .file("-t-4.json", "{")])
        try folder.put("MozTelemetry-Default-core.tar", try pings.bytes)
        for capture in [try await folder.open(), try await packed().open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [1, 3, 2].map(CaptureFolder.id))
            #expect(found.quarantined.map(\.path) == ["MozTelemetry-Default-core.tar!-t-4.json"])
            let item = try #require(found.quarantined.first)
            #expect(try found.bytes(of: item) == Array("{".utf8))
        }
    }

    @Test("A store that is a folder in the root of a nested archive is recognized by its name")
    func folderInRoot() async throws {
        let pings = [TestArchive.Member.file("MozTelemetry-Default-core/copy.json", CaptureFolder.ping(20))]
        try folder.put("pings.zip", try TestArchive("zip", pings).bytes)
        let request = "POST /submit/telemetry/x HTTP/1.1\r\nHost: incoming.telemetry.mozilla.org\r\n\r\n{"
        let session = [TestArchive.Member.file("raw/1_c.txt", request)]
        try folder.put("session.saz", try TestArchive("zip", session).bytes)
        let capture = try await folder.open()
        #expect(capture.stores.map(\.path).contains("session.saz!raw"))
        #expect(try await ReadCapture(capture).ids.contains(CaptureFolder.id(20)))
    }

    @Test("An archive inside a nested archive is reported and not read")
    func deeper() async throws {
        try folder.put("outer.tar", try packed(#"tar -cf "$0" ."#).bytes)
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        #expect(found.duplicates == 1)
        #expect(found.problemCodes == ["outer.tar!backups/AppDomain-org.mozilla.ios.Focus.zip nested"])
        #expect(try await !folder.open().isIncomplete)
    }

    @Test("Archives are recognized by their first bytes, and those of other formats are named once")
    func unusualNames() async throws {
        for (number, name) in ["a.imazingapp", "b.CPGZ", "c", "d.backup"].enumerated() {
            try folder.put("given/\(name)", try TestArchive("ustar", [.ping(number + 10)]).bytes)
        }
        // Only the first bytes of such files are read.
        let rar = Array("Rar!\u{1A}\u{7}\u{1}\u{0}".utf8) + [UInt8](repeating: 7, count: 700_000)
        for name in ["a.rar", "b.rar"] { try folder.put("given/\(name)", rar) }
        try folder.put("given/flows", "756:4:type;4:http;7:version;2:21#")
        try folder.put("given/phone.zip.001", try Self.archive(3).bytes)
        // Later parts without the first one are named, too.
        for name in ["phone.zip.002", "alone.zip.002", "alone.zip.003", "b.z01"] {
            try folder.put("given/\(name)", "PK")
        }
        try folder.put("given/b.zip", try Self.archive(5).bytes)
        try folder.put("given/notes", "PK is not a zip")
        // Files of apps are not inspected.
        try folder.put("Documents/x", try Self.archive(4).bytes)
        for capture in [try await folder.open(), try await packed().open()] {
            let found = try await ReadCapture(capture)
            #expect(Set(found.ids) == Set([1, 2, 5, 10, 11, 12, 13].map(CaptureFolder.id)))
            let words = [
                "a.rar: not read: a RAR archive (and 1 more file of this kind); unpack it, and pass the folder",
                "alone.zip.002: not read: a part of a split archive (and 1 more file of this kind); "
                    + "join the parts with cat, in the order of their names, and pass the result",
                "flows: not read: a mitmproxy flow file; export it as HAR: mitmdump -nr FILE --set hardump=FILE.har",
                "phone.zip.001: not read: the first part of a split archive; "
                    + "join the parts with cat NAME.0* > NAME, and pass the result",
            ]
            #expect(found.problems.map { "\($0.path): \($0.problem.text)" } == words.map { "given/\($0)" })
        }
    }

    @Test("Disk images are recognized by their first bytes, their end or their name")
    func diskImages() async throws {
        let end = Array("koly".utf8) + [UInt8](repeating: 0, count: 508)
        let start = [UInt8](repeating: 0, count: 1024)
        try folder.put("a.dmg", Array("BZh9 compressed".utf8) + start + end)
        try folder.put("b.DMG", "unknown")
        try folder.put("c", start + Array("H+\0\u{4}".utf8) + start)
        try folder.put("d", start.prefix(512) + Array("EFI PART".utf8) + start)
        try folder.put("e.sparsebundle/bands/0", "")
        try folder.put("f.img", [1, 2, 3] + start + end)
        let archive = try packed()
        // Only the beginnings of members are inspected.
        for (capture, others) in [(try await folder.open(), 5), (try await archive.open(), 4)] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [1, 2].map(CaptureFolder.id))
            let words = "not read: a disk image (and \(others) more files of this kind); mount it, and pass the folder"
            #expect(found.problems.map { "\($0.path): \($0.problem.text)" } == ["a.dmg: \(words)"])
            #expect(found.problems.allSatisfy { $0.problem.isLoss })
        }
    }

    @Test("A damaged nested archive is reported, and the other stores are read")
    func damaged() async throws {
        try folder.put("a.tar.gz", [0x1F, 0x8B, 8, 0, 1, 2, 3])
        try folder.put("b.zip", "PK no archive")
        try folder.put("c.zip", "none but for its name")
        let capture = try await folder.open()
        let found = try await ReadCapture(capture)
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        #expect(found.problemCodes == ["a.tar.gz damaged", "b.zip damaged"])
        #expect(capture.isIncomplete)
    }

    @Test("A nested archive that exceeds the limits is reported, and the other stores are read")
    func limits() async throws {
        let many = try TestArchive("ustar", (0..<20).map { .file("\($0).txt", "") })
        try folder.put("a.tar", try many.bytes)
        var limits = ArchiveLimits()
        limits.memberCount = 10
        let capture = try await CapturedFolder(
            path: folder.path, label: "capture", spool: Spool(archiveLimits: limits), limit: JobLimit(jobs: 1))
        let found = try await ReadCapture(capture)
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        #expect(found.problemCodes == ["a.tar unreadable"])
    }

    @Test("A nested archive is not read if its paths would be ambiguous")
    func ambiguous() async throws {
        try folder.put("backups/AppDomain-org.mozilla.ios.Focus.zip!Documents/x.txt", "x")
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problemCodes == ["backups/AppDomain-org.mozilla.ios.Focus.zip unreadable"])
    }

    @Test("A folder with an exclamation mark in its name is a folder")
    func exclamationMark() async throws {
        try folder.put("Yahoo!/\(corePings)/-t-5.json", CaptureFolder.ping(5))
        for capture in [try await folder.open(), try await packed().open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [1, 5, 2].map(CaptureFolder.id))
            #expect(found.records[1].source.path == "Yahoo!/\(corePings)/-t-5.json")
        }
    }
}
