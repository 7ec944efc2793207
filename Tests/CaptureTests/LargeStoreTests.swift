import Capture
import Telemetry
import Testing

/// Tests of stores with many files, and oversized files.
@Suite struct LargeStoreTests {
    @Test("A folder of 1,000 pings is read in the order of the numbers in the names, with any number of jobs")
    func manyFiles() async throws {
        let folder = try CaptureFolder()
        // Sorted as text, 1000 would precede 2.
        for number in 1...1000 {
            try folder.put("\(corePings)/-t-\(number).5.json", CaptureFolder.ping(number, timestamp: "\(number).5"))
        }
        let one = try await ReadCapture(folder.open(), jobs: 1)
        #expect(one.ids == (1...1000).map(CaptureFolder.id))
        let times = one.records.map { $0.time?.milliseconds ?? 0 }
        #expect(times == Array(stride(from: Int64(1500), through: 1_000_500, by: 1000)))
        #expect(Set(one.records.map(\.source.index)) == [0])
        let two = try await ReadCapture(folder.open(), jobs: 2)
        #expect(two.lines == one.lines)
        #expect(two.bytesRead == one.bytesRead)
    }

    @Test("A store that fills several outputs is read completely and in order")
    func severalBatches() async throws {
        let folder = try CaptureFolder()
        let filler = String(repeating: "x", count: 100_000)
        for number in 1...100 {
            let ping = CaptureFolder.ping(number).replacing(#""iPhone10,6""#, with: "\"\(filler)\"")
            try folder.put("\(corePings)/-t-\(number).json", ping)
        }
        try folder.put("Documents/MozTelemetry-Default-core.json", "[\(CaptureFolder.ping(101))]")
        let found = try await ReadCapture(folder.open())
        #expect(found.ids == (1...101).map(CaptureFolder.id))
    }

    @Test("A file beyond the parse limit is quarantined without being read")
    func overTheParseLimit() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.putSparse("\(corePings)/-t-2.json", size: (32 << 20) + 1)
        try folder.putSparse("\(corePings)/-t-3.json", size: 32 << 20)
        let capture = try await folder.open()
        let found = try await ReadCapture(capture)
        #expect(found.ids == [CaptureFolder.id(1)])
        #expect(found.quarantined.map(\.path) == ["\(corePings)/-t-2.json", "\(corePings)/-t-3.json"])
        #expect(found.reasonCodes == ["too-large", "json"])
        #expect(found.quarantined.map(\.size) == [(32 << 20) + 1, 32 << 20])
        #expect(found.problems == [])
    }

    @Test("A file beyond the limit of the quarantine is reported")
    func overTheQuarantineLimit() async throws {
        let folder = try CaptureFolder()
        try folder.putSparse("\(corePings)/-t-2.json", size: (33 << 20) + 1)
        let found = try await ReadCapture(folder.open(), quarantineLimit: 33 << 20)
        #expect(found.quarantined == [])
        #expect(found.problemCodes == ["\(corePings)/-t-2.json unreadable"])
    }

    @Test("A filter removes records, but not problems")
    func filter() async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.put("\(corePings)/-t-2.json", "{")
        try folder.put("Documents/MozTelemetry-Default-focus-event/-t-1.json", CaptureFolder.ping(3, type: "other"))
        var filter = RecordFilter()
        filter.types = ["other"]
        let found = try await ReadCapture(folder.open(), filter: filter)
        #expect(found.ids == [CaptureFolder.id(3)])
        #expect(found.reasonCodes == ["P2"])
    }
}
