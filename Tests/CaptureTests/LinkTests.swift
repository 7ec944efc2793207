import CLibrary
import Telemetry
import Testing

@testable import Capture

/// Tests that links and special files in a capture are never followed or read.
@Suite struct LinkTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
    }

    private func idsAndProblems() async throws -> (ids: [String], problems: [String], isIncomplete: Bool) {
        let capture = try await folder.open()
        let found = try await ReadCapture(capture)
        #expect(found.quarantined == [])
        return (found.ids, found.problemCodes, capture.isIncomplete)
    }

    @Test("A link to a store outside of the capture is reported and not followed")
    func linkOutOfTheCapture() async throws {
        let other = try CaptureFolder()
        try other.put("\(corePings)/-t-2.json", CaptureFolder.ping(2))
        try other.put("a.json", "[\(CaptureFolder.ping(3))]")
        try folder.makeFolder("Library/Caches")
        try folder.link("Library/Caches/MozTelemetry-Default-core", to: "\(other.path)/\(corePings)")
        try folder.link("Documents/MozTelemetry-Default-focus-event.json", to: "\(other.path)/a.json")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "Documents/MozTelemetry-Default-focus-event.json link", "Library/Caches/MozTelemetry-Default-core link",
            ])
        #expect(!found.isIncomplete)
    }

    @Test("A link to a store inside the capture does not duplicate it")
    func linkToAStore() async throws {
        try folder.link("Documents/MozTelemetry-core", to: "MozTelemetry-Default-core")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["Documents/MozTelemetry-core link"])
    }

    @Test("A link among the pings is reported and not read")
    func linkToAFile() async throws {
        try folder.put("elsewhere/ping.txt", CaptureFolder.ping(2))
        try folder.link("\(corePings)/-t-2.json", to: "../../elsewhere/ping.txt")
        try folder.link("\(corePings)/-t-3.json", to: "/etc/passwd")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["\(corePings)/-t-2.json link", "\(corePings)/-t-3.json link"])
    }

    @Test("A link to a folder is reported with its target and not followed, regardless of its name")
    func linkToAFolder() async throws {
        let other = try CaptureFolder()
        try other.put("\(corePings)/-t-2.json", CaptureFolder.ping(2))
        try folder.put("d/pings.json", "[\(CaptureFolder.ping(3))]")
        try folder.link("Library", to: "\(other.path)/Documents")
        try folder.link("Documents/more", to: "../d")
        try folder.link("\(corePings)/older", to: "../../d")
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [CaptureFolder.id(1)])
        let words = "not followed; give that as a capture of its own"
        #expect(
            found.problems.map { "\($0.path): \($0.problem.code): \($0.problem.text)" } == [
                "\(corePings)/older: link: symbolic link to ../../d \(words)",
                "Documents/more: link: symbolic link to ../d \(words)",
                "Library: link: symbolic link to \(other.path)/Documents \(words)",
            ])
    }

    @Test("A link among Glean pings is reported once, with the code of its case, and is a loss")
    func linkAmongPingsOfGlean() async throws {
        let pings = "Library/glean_data/pending_pings"
        try folder.put("\(pings)/.keep", "")
        try folder.link("\(pings)/0c5a3b52-6e0b-4c8d-9f53-000000000001", to: "../../../elsewhere")
        try folder.makeFolder("elsewhere")
        let problems = try await folder.open().problems
        #expect(
            problems.map { "\($0.path) \($0.problem.code)" } == ["\(pings)/0c5a3b52-6e0b-4c8d-9f53-000000000001 G20"])
        #expect(problems.first?.problem.text.hasPrefix("symbolic link to ../../../elsewhere not followed") == true)
        #expect(problems.allSatisfy { $0.problem.isLoss })
    }

    @Test("Links to files are reported if the files could be stores")
    func linkThatCouldBeAStore() async throws {
        let other = try CaptureFolder()
        for name in ["note.txt", "a.json", "phone.zip", "log.har", "x"] { try other.put(name, "x") }
        try folder.put("in/note.txt", "x")
        try folder.put("in/a.json", "{}")
        let links = [
            ("inside.json", "in/a.json"), ("inside.txt", "in/note.txt"), ("note", "\(other.path)/note.txt"),
            ("out.json", "\(other.path)/x"), ("other", "\(other.path)/a.json"), ("phone", "\(other.path)/phone.zip"),
            ("log", "\(other.path)/log.har"), ("gone", "\(other.path)/none"), ("dead.json", "none"), (".hidden", "/"),
        ]
        for (name, target) in links { try folder.link(name, to: target) }
        #expect(
            try await idsAndProblems().problems == ["gone", "log", "other", "out.json", "phone"].map { "\($0) link" })
    }

    @Test("Links in an archive are reported as in the folder that was packed", arguments: ["tar", "zip", "7z", "cpio"])
    func linksInArchives(format: String) async throws {
        try folder.put("d/notes.txt", "x")
        let links = [
            ("to-folder", "d"), ("Documents/up", ".."), ("Documents/MozTelemetry-core", "../d/notes.txt"),
            ("file", "d/notes.txt"), ("dead", "none"), ("outside", "../other"), ("absolute", "/var/other"),
            ("over", "to-folder/."),
        ]
        for (name, target) in links { try folder.link(name, to: target) }
        let expected = [
            "Documents/MozTelemetry-core", "absolute", "outside", "over", "to-folder",
        ]
        #expect(try await idsAndProblems().problems == expected.map { "\($0) link" })
        let archive = try TestArchive(of: folder.path, named: "a.\(format)", "bsdtar -a -cf \"$0\" *")
        let found = try await ReadCapture(archive.open())
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problemCodes == expected.map { "\($0) link" })
        #expect(found.problems.last?.problem.text.hasPrefix("symbolic link to d not followed") == true)
    }

    @Test("The first of many links are reported individually, and the others are counted")
    func manyLinks() async throws {
        var found = SkippedEntries()
        var others = SkippedEntries()
        // In reverse order and in two parts, because the report does not depend on the order.
        for number in (0..<25_000).reversed() {
            let digits = String(number)
            let path = "l" + String(repeating: "0", count: 5 - digits.count) + digits
            if number.isMultiple(of: 2) {
                found.add(SkippedEntry(path: path, isLink: true))
            } else {
                others.add(SkippedEntry(path: path, isLink: true))
            }
        }
        found.add(others)
        #expect(found.reportedEntries.count == 10_000)
        #expect(found.reportedEntries.first?.path == "l00000")
        #expect(found.reportedEntries.last?.path == "l09999")
        #expect(found.unreportedCount == 15_000)
        for number in 0..<10_003 { try folder.link("l\(number)", to: "/") }
        let capture = try await folder.open()
        #expect(capture.problems.count == 10_001)
        #expect(
            capture.problems.last?.problem.text == "and 3 more links that were not followed, or special files not read")
    }

    @Test("Link loops and dead links are handled")
    func loops() async throws {
        try folder.link("Documents/again", to: "..")
        try folder.link("self", to: "self")
        try folder.link("\(corePings)/up", to: ".")
        try folder.link("MozTelemetry-Default-dead", to: "nowhere")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["MozTelemetry-Default-dead link"])
    }

    @Test("The capture itself can be given as a link")
    func linkToTheCapture() async throws {
        let other = try CaptureFolder()
        try other.link("link", to: folder.path)
        let found = try await ReadCapture(path: "\(other.path)/link")
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.records.map(\.source.capture) == ["link"])
    }

    @Test("Pipes and sockets are reported and not read")
    func specialFiles() async throws {
        #expect(mkfifo("\(folder.path)/\(corePings)/-t-2.json", 0o666) == 0)
        #expect(mkfifo("\(folder.path)/Documents/MozTelemetry-Default-focus-event.json", 0o666) == 0)
        try bindSocket("\(folder.path)/\(corePings)/-t-3.json")
        try bindSocket("\(folder.path)/Documents/eventArray-MozTelemetry-Default-core.json")
        // All of them are reported, whatever their names are.
        #expect(mkfifo("\(folder.path)/Documents/pipe.json", 0o666) == 0)
        try bindSocket("\(folder.path)/Documents/.hidden")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "Documents/.hidden special", "\(corePings)/-t-2.json special", "\(corePings)/-t-3.json special",
                "Documents/MozTelemetry-Default-focus-event.json special",
                "Documents/eventArray-MozTelemetry-Default-core.json special", "Documents/pipe.json special",
            ])
        #expect(!found.isIncomplete)
    }

    /// Creates a socket in the file system.
    private func bindSocket(_ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(number >= 0)
        defer { close(number) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }
}
