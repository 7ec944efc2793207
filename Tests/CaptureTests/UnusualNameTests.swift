import CLibrary
import Capture
import Files
import Telemetry
import Testing

/// Tests of names that are not UTF-8, and names that look alike.
@Suite struct UnusualNameTests {
    /// Returns a path below a folder whose name may have any bytes.
    private func path(_ name: [UInt8], in folder: String) -> [CChar] {
        (Array("\(folder)/".utf8) + name + [0]).map(CChar.init(truncatingIfNeeded:))
    }

    private func put(_ name: [UInt8], in folder: String, _ text: String) throws {
        let number = open(path(name, in: folder), O_CREAT | O_WRONLY | O_EXCL, 0o644)
        try #require(number >= 0)
        let bytes = Array(text.utf8)
        #expect(write(number, bytes, bytes.count) == bytes.count)
        close(number)
    }

    @Test("Placeholders of iCloud are reported if they stand for files of stores")
    func placeholders() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        for name in [
            "\(corePings)/.-t-2.json.icloud", "Documents/.MozTelemetry-Default-core.json.icloud", ".phone.zip.icloud",
            "Documents/.photo.jpg.icloud",
        ] { try folder.put(name, "bplist00") }
        let archive = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            #expect(
                found.problems.map(\.path)
                    == ["Documents/MozTelemetry-Default-core.json", "\(corePings)/-t-2.json", "phone.zip"])
            #expect(
                found.problems.allSatisfy {
                    $0.problem.isLoss && $0.problem.text.hasPrefix("not downloaded from iCloud")
                })
        }
    }

    @Test("Files in which Windows stores the origin of other files are ignored")
    func zoneIdentifiers() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        for name in [
            "-t-1.json:Zone.Identifier", "-t-2.json\u{F03A}Zone.Identifier", "-t-3.json:Zone.Identifier:$DATA",
            "-t-4.json.Zone.Identifier", "-t-5.json%3azone.identifier", "-t-6.json_Zone.Identifier",
            "-t-7.json:com.dropbox.attributes", "-t-8.json\u{F022}AFP_AfpInfo", "Thumbs.db", "desktop.ini",
        ] { try folder.put("\(corePings)/\(name)", "[ZoneTransfer]\nZoneId=3\n") }
        try folder.put("__MACOSX/\(corePings)/-t-9.json", "a resource fork")
        try folder.put("Documents/MozTelemetry-Default-core.json:Zone.Identifier", "[ZoneTransfer]")
        let archive = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            #expect(found.quarantined.isEmpty && found.problems.isEmpty)
        }
    }

    /// Names of copies beside the stores of which they are copies, in groups that one message reports.
    private static let copies = [
        "Documents/AdjustIoPackageQueue (1)", "Documents/AdjustIoPackageQueue - Kopie",
        "Documents/AdjustIoPackageQueue.bak", "Documents/AdjustIoPackageQueue~", "Documents/ADJUSTIOPACKAGEQUEUE",
        "Documents/Copy of AdjustIoPackageQueue", "Documents/ADJUST~1", "Documents/__LEANPLUM.SQLITE",
        "Documents/__leanplum.sqlite.old", "Documents/MozTelemetry-Default-core.json.bak",
        "Documents/eventArray-MozTelemetry-Default-core.json copy", "Documents/MOZTELEMETRY-DEFAULT-CORE.JSON",
        "Library/Caches/sift-v0_0_1/uploader (1)", "Library/Caches/sift-v0_0_1/UPLOADER",
    ]

    @Test("Copies of stores with altered names are reported once, and not read")
    func alteredNames() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("Library/Caches/sift-v0_0_1/sift", "")
        for name in Self.copies { try folder.put(name, "[]") }
        for name in ["MOZTEL~1/-T-2~1.JSO", "GLEAN_DATA/CLIENT~1.TXT"] { try folder.put(name, CaptureFolder.ping(2)) }
        // These names belong to other files.
        for name in ["MozTelemetry-Default.zip", "MozTelemetry-core.sha256", "__leanplum.sqlite-shm", "adjust~a"] {
            try folder.put(name, "")
        }
        let archive = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            let reported = found.problems.filter { $0.problem.text.contains("whose name was altered") }
            #expect(reported.map(\.path) == ["Documents/ADJUSTIOPACKAGEQUEUE"])
            #expect(
                reported.allSatisfy {
                    $0.problem.isLoss && $0.problem.text.contains("(and 15 more files of this kind)")
                })
        }
    }

    @Test("A copy of a file of Mozilla's SDK is read under its original name, unless it would be counted twice")
    func copiesOfJSON() async throws {
        let folder = try CaptureFolder()
        let events = "eventArray-MozTelemetry-Default-focus-event"
        try folder.put("Documents/MozTelemetry-Default-core - Copy.json", "[\(CaptureFolder.ping(1))]")
        try folder.put("Documents/MozTelemetry-Default-core (1).json", "[\(CaptureFolder.ping(2))]")
        try folder.put("Documents/\(events) copy.json", #"[0,"action","foreground","app"]"#)
        try folder.put("Documents/MozTelemetry-Default-values (1).json", "{}")
        let alone = try await ReadCapture(folder.open())
        #expect(alone.records.map(\.type) == ["core", "core", "focus-event"])
        #expect(alone.quarantined.isEmpty && alone.problems.isEmpty)
        try folder.put("Documents/\(events).json", #"[0,"action","foreground","app"]"#)
        let beside = try await ReadCapture(folder.open())
        #expect(beside.records.map(\.source.path).last == "Documents/\(events).json")
        #expect(beside.records.count == 3)
        #expect(beside.problems.map(\.path) == ["Documents/\(events) copy.json"])
    }

    @Test("Backslashes separate the folders of archives, unless slashes do", arguments: ["zip", "ustar", "gnu", "pax"])
    func backslashes(format: String) async throws {
        let folders = corePings.replacing("/", with: "\\")
        func ping(_ number: Int) -> TestArchive.Member {
            .file("\(folders)\\-t-\(number).json", CaptureFolder.ping(number))
        }
        var members = [TestArchive.Member.file("\(folders)\\", ""), ping(1), ping(2)]
        if format != "zip" {
            let target = "\(folders)\\-t-1.json"
            members.append(TestArchive.Member(name: "Documents\\b-core\\-t-3.json", type: "hardlink", link: target))
        }
        let found = try await ReadCapture(TestArchive(format, members).open())
        #expect(found.ids == [1, 2].map(CaptureFolder.id))
        #expect(found.problems == [] && found.quarantined.isEmpty)
        #expect(found.records.map(\.source.path) == [1, 2].map { "\(corePings)/-t-\($0).json" })
    }

    @Test("Files whose names contain the path of a store with backslashes are reported once")
    func pathsInNames() async throws {
        let folder = try CaptureFolder()
        try folder.put("a/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let folders = corePings.replacing("/", with: "\\")
        for name in [
            "\(folders)\\-t-2.json", "Documents\\__leanplum.sqlite", "x\\photo.jpg", "x\\.hidden", "phone\\a.zip",
        ] {
            try folder.put("a/\(name)", CaptureFolder.ping(2))
        }
        for name in ["x\\settings.json", "Payload\\Info.plist"] { try folder.put("a/\(name)", "{}") }
        let archive = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            let reported = found.problems.filter { $0.problem.text.contains("with backslashes") }
            #expect(reported.map(\.path) == ["a/\(folders)\\-t-2.json"])
            #expect(
                reported.allSatisfy { $0.problem.isLoss && $0.problem.text.contains("(and 1 more file of this kind)") })
        }
    }

    @Test("A ping file whose name is not UTF-8 is read")
    func pingFile() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1527163209.5.json", CaptureFolder.ping(1, timestamp: "1527163209.5"))
        try put(Array("caf\u{E9}".utf8.dropLast()) + [0xFF], in: "\(folder.path)/\(corePings)", CaptureFolder.ping(2))
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [CaptureFolder.id(2), CaptureFolder.id(1)])
        #expect(found.records[0].source.path.hasPrefix("\(corePings)/caf\u{FFFD}"))
        #expect(found.problems == [])
    }

    @Test("The path of a ping contains the slash even if the next name begins with a combining character")
    func joinedSlash() async throws {
        let folder = try CaptureFolder()
        // This Arabic number sign combines with the character after it.
        try folder.put("Documents/pings\u{600}/-t-1527163209.5.json", CaptureFolder.ping(1))
        let found = try await ReadCapture(folder.open())
        #expect(found.records.map(\.source.path) == ["Documents/pings\u{600}/-t-1527163209.5.json"])
    }

    @Test("The rejected contents of a file with such a name are listed")
    func brokenPingFile() async throws {
        let folder = try CaptureFolder()
        try folder.makeFolder(corePings)
        try put([0xFF, 0xFE], in: "\(folder.path)/\(corePings)", "{")
        let capture = try await folder.open()
        let found = try await ReadCapture(capture)
        #expect(found.reasonCodes == ["P2"])
        #expect(found.quarantined.map(\.size) == [1])
        #expect(try found.bytes(of: found.quarantined[0]) == Array("{".utf8))
    }

    @Test("A store that is a single file with such a name is reported")
    func store() async throws {
        let folder = try CaptureFolder()
        try folder.makeFolder("Documents")
        let name = Array("MozTelemetry-Default-".utf8) + [0xFF] + Array("-core.json".utf8)
        try put(name, in: "\(folder.path)/Documents", "[]")
        let found = try await ReadCapture(folder.open())
        #expect(found.problemCodes == ["Documents/MozTelemetry-Default-\u{FFFD}-core.json unreadable"])
    }

    /// Returns a capture with pings below a folder whose name is not UTF-8.
    private func captureWithOddFolder() throws -> CaptureFolder {
        let folder = try CaptureFolder()
        try folder.put("caf\u{E9}/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let paths = (path(Array("caf\u{E9}".utf8), in: folder.path), path([0x63, 0x61, 0x66, 0xE9], in: folder.path))
        try #require(rename(paths.0, paths.1) == 0)
        return folder
    }

    @Test("Folders with such names are read")
    func folders() async throws {
        let folder = try captureWithOddFolder()
        let archive = try TestArchive(of: folder.path, named: "a.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            #expect(!capture.isIncomplete)
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            #expect(found.records.map(\.source.path) == ["caf\u{FFFD}/\(corePings)/-t-1.json"])
            #expect(found.problems == [])
        }
    }

    @Test("A folder is reported if its displayed name equals that of another folder")
    func ambiguousFolders() async throws {
        let folder = try captureWithOddFolder()
        try #require(mkdir(path([0x63, 0x61, 0x66, 0xFF], in: folder.path), 0o755) == 0)
        let capture = try await folder.open()
        #expect(capture.isIncomplete)
        let found = try await ReadCapture(capture)
        #expect(found.ids == [])
        #expect(found.problemCodes == ["caf\u{FFFD} unreadable", "caf\u{FFFD} unreadable"])
    }

    @Test("Canonically equivalent names are different names")
    func equivalentNames() async throws {
        let folder = try CaptureFolder()
        try folder.put("\u{E9}/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("e\u{301}/\(corePings)/-t-2.json", CaptureFolder.ping(2))
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [CaptureFolder.id(2), CaptureFolder.id(1)])
        #expect(found.records.map { Array($0.source.path.utf8.prefix(1)) } == [[0x65], [0xC3]])
    }
}
