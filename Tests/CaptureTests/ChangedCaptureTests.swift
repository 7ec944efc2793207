import Capture
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

    @Test("Quarantined bytes are those that were rejected, even if the file changes or disappears afterwards")
    func changed() async throws {
        let events = "Documents/eventArray-MozTelemetry-Default-core.json"
        try folder.put(events, "[0,\"a\",\"b\",\"c\"],\n[1,\"a")
        let found = try await ReadCapture(folder.open())
        try folder.put("\(corePings)/-t-2.json", "[")
        #expect(unlink("\(folder.path)/\(events)") == 0)
        #expect(found.quarantined.map(\.path).sorted() == ["\(corePings)/-t-2.json", events])
        let expected = ["\(corePings)/-t-2.json": "{", events: "[1,\"a"]
        for item in found.quarantined {
            #expect(try found.bytes(of: item) == expected[item.path].map { Array($0.utf8) })
        }
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
