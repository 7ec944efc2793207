import Capture
import Files
import Mozilla
import Telemetry
import Testing

/// Tests of a single store file that is given instead of a folder.
@Suite struct SingleFileTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("\(corePings)/copy.json", CaptureFolder.ping(2))
        try folder.put("\(corePings)/-t-3.json", CaptureFolder.ping(3))
        try folder.put(
            "Documents/MozTelemetry-Default-core.json", "[\(CaptureFolder.ping(4)),\(CaptureFolder.ping(5))]")
        try folder.put("Documents/eventArray-MozTelemetry-Default-core.json", #"[0,"action","foreground","app"]"#)
        try folder.put("Documents/notes.txt", "x")
    }

    private func read(_ name: String) async throws -> ReadCapture {
        let capture = try CapturedFolder(file: "\(folder.path)/\(name)", label: "file")
        return try await ReadCapture(try #require(capture))
    }

    @Test("A ping file is read without its folder", arguments: [("-t-1.json", 1), ("copy.json", 2)])
    func pingFile(name: String, number: Int) async throws {
        let found = try await read("\(corePings)/\(name)")
        #expect(found.ids == [CaptureFolder.id(number)])
        #expect(
            found.records.map(\.source) == [
                Source(capture: "file", path: name, store: .mozillaPingFile, index: 0)
            ])
        #expect(found.records.map(\.notes) == [[]])
    }

    @Test("A ping array is read without its folder")
    func pingArray() async throws {
        let found = try await read("Documents/MozTelemetry-Default-core.json")
        #expect(found.ids == [4, 5].map(CaptureFolder.id))
        #expect(
            found.records.map(\.source.path) == ["MozTelemetry-Default-core.json", "MozTelemetry-Default-core.json"])
    }

    @Test("Pending events without other files borrow no values")
    func pendingEvents() async throws {
        let found = try await read("Documents/eventArray-MozTelemetry-Default-core.json")
        #expect(found.records.map(\.client) == [nil])
        #expect(found.records.map { $0.held.map(\.code) } == [["pending-events"]])
    }

    @Test("A file with another name is not a store")
    func otherFile() throws {
        #expect(try CapturedFolder(file: "\(folder.path)/Documents/notes.txt", label: "file") == nil)
    }

    @Test("A file in a missing folder causes an error")
    func missingFolder() {
        #expect(throws: FileError.self) { try CapturedFolder(file: "\(folder.path)/none/-t-1.json", label: "file") }
    }

    @Test("A path to nothing, or to a file instead of a folder, causes an error")
    func otherPaths() async {
        await #expect(throws: FileError.self) {
            try await CapturedFolder(path: "\(folder.path)/none", label: "x", limit: JobLimit(jobs: 2))
        }
        await #expect(throws: FileError.self) {
            try await CapturedFolder(path: "\(folder.path)/Documents/notes.txt", label: "x", limit: JobLimit(jobs: 2))
        }
    }
}
