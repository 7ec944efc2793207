import Capture
import Glibc
import Testing

/// Links and special files in a capture: nothing is read that does not lie in it as a plain file.
@Suite struct LinkTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
    }

    private func idsAndProblems() async throws -> (ids: [String], problems: [String], isIncomplete: Bool) {
        let capture = try await folder.open()
        let found = try await Harvested(capture)
        #expect(found.quarantined == [])
        return (found.ids, found.problemCodes, capture.isIncomplete)
    }

    @Test("a link to a store outside is not followed, and told")
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

    @Test("a link to a store inside does not double it")
    func linkToAStore() async throws {
        try folder.link("Documents/MozTelemetry-core", to: "MozTelemetry-Default-core")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["Documents/MozTelemetry-core link"])
    }

    @Test("a link among the pings is told and not read")
    func linkToAFile() async throws {
        try folder.put("elsewhere/ping.txt", CaptureFolder.ping(2))
        try folder.link("\(corePings)/-t-2.json", to: "../../elsewhere/ping.txt")
        try folder.link("\(corePings)/-t-3.json", to: "/etc/passwd")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["\(corePings)/-t-2.json link", "\(corePings)/-t-3.json link"])
    }

    @Test("loops and dead links end nowhere")
    func loops() async throws {
        try folder.link("Documents/again", to: "..")
        try folder.link("self", to: "self")
        try folder.link("\(corePings)/up", to: ".")
        try folder.link("MozTelemetry-Default-dead", to: "nowhere")
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.problems == ["MozTelemetry-Default-dead link"])
    }

    @Test("the capture itself may be given as a link")
    func linkToTheCapture() async throws {
        let other = try CaptureFolder()
        try other.link("link", to: folder.path)
        let found = try await Harvested(path: "\(other.path)/link")
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.records.map(\.source.capture) == ["link"])
    }

    @Test("pipes and sockets in the place of files are told and not read")
    func specialFiles() async throws {
        #expect(mkfifo("\(folder.path)/\(corePings)/-t-2.json", 0o666) == 0)
        #expect(mkfifo("\(folder.path)/Documents/MozTelemetry-Default-focus-event.json", 0o666) == 0)
        try bindSocket("\(folder.path)/\(corePings)/-t-3.json")
        try bindSocket("\(folder.path)/Documents/eventArray-MozTelemetry-Default-core.json")
        #expect(mkfifo("\(folder.path)/Documents/pipe.json", 0o666) == 0)
        let found = try await idsAndProblems()
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problems == [
                "\(corePings)/-t-2.json special", "\(corePings)/-t-3.json special",
                "Documents/MozTelemetry-Default-focus-event.json special",
                "Documents/eventArray-MozTelemetry-Default-core.json special",
            ])
        #expect(!found.isIncomplete)
    }

    /// Leaves a socket in the file system.
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
