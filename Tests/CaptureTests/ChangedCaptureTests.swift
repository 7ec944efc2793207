import Capture
import Files
import Foundation
import Telemetry
import Testing

/// Tests of captures that change between searching, reading and packing.
@Suite struct ChangedCaptureTests {
    let folder: CaptureFolder

    init() throws {
        folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("\(corePings)/-t-2.json", "{")
    }

    private func quarantined(_ capture: CapturedFolder) async throws -> QuarantineEntry {
        let items = try await ReadCapture(capture).quarantined
        #expect(items.count == 1)
        return try #require(items.first)
    }

    @Test("Unchanged quarantined bytes can be read again")
    func unchanged() async throws {
        let capture = try await folder.open()
        let item = try await quarantined(capture)
        #expect(try CaptureInput.folder(capture).quarantinedBytes(of: item) == Array("{".utf8))
    }

    @Test("Changed quarantined bytes cause an error", arguments: ["[", "", "{ ", #"{"x":1}"#])
    func changed(contents: String) async throws {
        let capture = try await folder.open()
        let item = try await quarantined(capture)
        try folder.put("\(corePings)/-t-2.json", contents)
        let error = #expect(throws: ChangedCaptureError.self) {
            try CaptureInput.folder(capture).quarantinedBytes(of: item)
        }
        #expect(error?.path == "\(corePings)/-t-2.json")
    }

    @Test("A file that became shorter than its quarantined span causes an error")
    func shorterFile() async throws {
        let name = "Documents/eventArray-MozTelemetry-Default-core.json"
        let changing = try CaptureFolder()
        try changing.put(name, "[0,\"a\",\"b\",\"c\"],\n[1,\"a")
        let capture = try await changing.open()
        let item = try await quarantined(capture)
        #expect(item.reject.offset == 17)
        for contents in ["", "[0", "[0,\"a\",\"b\",\"c\"],\n", "[0,\"a\",\"b\",\"c\"],\n[1"] {
            try changing.put(name, contents)
            #expect(throws: ChangedCaptureError.self) { try CaptureInput.folder(capture).quarantinedBytes(of: item) }
        }
    }

    @Test("A quarantined file that was removed or replaced by a link causes an error")
    func removed() async throws {
        let capture = try await folder.open()
        let item = try await quarantined(capture)
        let path = "\(folder.path)/\(corePings)/-t-2.json"
        #expect(unlink(path) == 0)
        #expect(throws: FileError.self) { try CaptureInput.folder(capture).quarantinedBytes(of: item) }
        try folder.put("elsewhere", "{")
        #expect(symlink("../../elsewhere", path) == 0)
        #expect(throws: FileError.self) { try CaptureInput.folder(capture).quarantinedBytes(of: item) }
    }

    @Test("A store that disappears before it is read is reported, and the others are read")
    func removedBeforeReading() async throws {
        try folder.put("Library/Caches/MozTelemetry-Default-core/-t-3.json", CaptureFolder.ping(3))
        let capture = try await folder.open()
        #expect(unlink("\(folder.path)/\(corePings)/-t-2.json") == 0)
        try FileManager.default.removeItem(atPath: "\(folder.path)/Library")
        let found = try await ReadCapture(capture)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(
            found.problemCodes == [
                "\(corePings)/-t-2.json unreadable", "Library/Caches/MozTelemetry-Default-core unreadable",
            ])
    }

    @Test("A folder that was replaced by a link is not followed")
    func folderBecameALink() async throws {
        let other = try CaptureFolder()
        try other.put("-t-1.json", CaptureFolder.ping(9))
        let capture = try await folder.open()
        try FileManager.default.removeItem(atPath: "\(folder.path)/\(corePings)")
        try folder.link(corePings, to: other.path)
        let found = try await ReadCapture(capture)
        #expect(found.records == [])
        #expect(found.problemCodes == ["\(corePings) unreadable"])
    }
}
