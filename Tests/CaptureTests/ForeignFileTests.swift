import Capture
import Files
import Mozilla
import Telemetry
import Testing

/// Tests of files of other projects that look like stores.
@Suite struct ForeignFileTests {
    @Test("Files of other projects are not recognized as stores")
    func otherProjects() async throws {
        let folder = try CaptureFolder()
        try folder.put("node-core/package.json", #"{"name":"core"}"#)
        try folder.put("node-core/index.js", "")
        try folder.put("foo-core.json", #"{"some":"thing"}"#)
        try folder.put("foo-core/12.txt", "12")
        try folder.put("my-values.json", #"{"clientId":"x"}"#)
        try folder.put("1508860835.51251.json", "{}")
        try folder.put("Preferences/com.example.plist", "x")
        try folder.put("com.example.plist", "telemetry-key-prefix-clientId")
        try folder.put("MozTelemetry.txt", "x")
        #expect(try await folder.open().stores.isEmpty)
        #expect(try await ReadCapture(folder.open()).bytesRead == 0)
    }

    @Test("A foreign file among pings outside of the SDK's own folder is ignored")
    func amongOtherPings() async throws {
        let folder = try CaptureFolder()
        try folder.put("app-core/-t-1527163208.5.json", CaptureFolder.ping(1))
        try folder.put("app-core/1527163209.5.json", CaptureFolder.ping(2))
        try folder.put("app-core/README.md", "secret")
        try folder.put("any/-t-1527163208.5.json", CaptureFolder.ping(3))
        try folder.put("any/1527163209.5.json", CaptureFolder.ping(4))
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == [3, 4, 1, 2].map(CaptureFolder.id))
        #expect(found.quarantined == [])
        #expect(found.bytesRead == 4 * CaptureFolder.ping().utf8.count)
    }

    @Test("The other files in a folder with a loose ping are read, too")
    func besideLoosePings() async throws {
        let folder = try CaptureFolder()
        try folder.put("Downloads/-t-1527163208.5.json", CaptureFolder.ping(1))
        try folder.put("Downloads/MozTelemetry-Default-core.json", "[\(CaptureFolder.ping(2))]")
        try folder.put("Downloads/eventArray-MozTelemetry-Default-focus-event.json", #"[0,"action","click","app"]"#)
        try folder.put("Downloads/phone.zip", try TestArchive("zip", [.ping(3)]).bytes)
        let found = try await ReadCapture(folder.open())
        #expect(Set(found.records.filter { $0.held.isEmpty }.map(\.id)) == Set([1, 2, 3].map(CaptureFolder.id)))
        #expect(found.records.filter { !$0.held.isEmpty }.map(\.held) == [[.pendingEvents]])
    }

    @Test("Stores with other storage names are recognized by their contents")
    func otherStorageNames() async throws {
        let folder = try CaptureFolder()
        try folder.put("Documents/App-core.json", "[\(CaptureFolder.ping(1))]")
        try folder.put(
            "Documents/App-values.json", #"{"clientId":"x","core-seq":1,"core-events":[[0,"a","b","c"]],"sessions":3}"#)
        try folder.put("Documents/eventArray-App-core.json", #"[0,"action","foreground","app"]"#)
        let found = try await ReadCapture(folder.open())
        #expect(
            found.records.map(\.source.store) == [.mozillaPingArray, .mozillaValues, .mozillaPendingEvents])
        #expect(found.records.map(\.type) == ["core", "core", "core"])
        #expect(found.problemCodes == ["Documents/App-values.json pending-counters"])
    }

    @Test("Quarantined preferences are listed without their bytes")
    func brokenPreferences() async throws {
        let folder = try CaptureFolder()
        try folder.put("Library/Preferences/org.mozilla.ios.Focus.plist", "bplist00 telemetry-key-prefix- broken")
        try folder.put("Documents/MozTelemetry-Default-values.json", "[1,2,3]")
        let found = try await ReadCapture(folder.open())
        #expect(
            found.quarantined.map(\.path) == [
                "Documents/MozTelemetry-Default-values.json", "Library/Preferences/org.mozilla.ios.Focus.plist",
            ])
        #expect(found.reasonCodes == ["V1", "V3"])
        #expect(found.quarantined.map(\.isStored) == [true, false])
        #expect(found.records == [])
    }

    @Test("Large preferences are read, and reported if they are too large")
    func largePreferences() async throws {
        let folder = try CaptureFolder()
        let (large, tooLarge) = ("Library/Preferences/a.plist", "Library/Preferences/b.plist")
        try folder.put(large, "bplist00 telemetry-key-prefix- broken" + String(repeating: "x", count: 17 << 20))
        try folder.putSparse(tooLarge, size: 32 << 20 | 1)
        try folder.putSparse("Documents/stranger.json", size: 32 << 20 | 1)
        let capture = try await folder.open()
        let found = try await ReadCapture(capture)
        #expect(found.quarantined.map(\.path) == [large])
        #expect(found.problemCodes == ["\(tooLarge) unreadable"])
        #expect(capture.isIncomplete)
    }

    @Test("The output is never read as input")
    func excludedFile() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("\(corePings)/-t-2.json", CaptureFolder.ping(2))
        let identity = try InputFile(path: "\(folder.path)/\(corePings)/-t-2.json").identity
        let capture = try await CapturedFolder(
            path: folder.path, label: "capture", excluding: [identity], limit: JobLimit(jobs: 2))
        #expect(try await ReadCapture(capture).ids == [CaptureFolder.id(1)])
    }
}
