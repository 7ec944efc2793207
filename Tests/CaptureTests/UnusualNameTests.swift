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
        for name in ["-t-1.json:Zone.Identifier", "-t-2.json\u{F03A}Zone.Identifier"] {
            try folder.put("\(corePings)/\(name)", "[ZoneTransfer]\nZoneId=3\n")
        }
        try folder.put("Documents/MozTelemetry-Default-core.json:Zone.Identifier", "[ZoneTransfer]")
        let archive = try TestArchive(of: folder.path, named: "capture.tar", #"tar -cf "$0" ."#)
        for capture in [try await folder.open(), try await archive.open()] {
            let found = try await ReadCapture(capture)
            #expect(found.ids == [CaptureFolder.id(1)])
            #expect(found.quarantined.isEmpty && found.problems.isEmpty)
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
