import JSONText
import Systems
import Telemetry
import Testing

@testable import Capture

/// How a capture is split into pieces of work, and that their order is that of the stores.
@Suite struct ScanUnitTests {
    private static let options = HarvestOptions()

    /// Reads a unit, and goes on while something is left of it.
    private func batches(of unit: ScanUnit) throws -> [Batch] {
        var batches: [Batch] = []
        var rest: ScanUnit? = unit
        while let unit = rest {
            let batch: Batch
            (batch, rest) = try unit.read(Self.options)
            batches.append(batch)
        }
        return batches
    }

    private func ids(_ batches: [Batch]) throws -> [String] {
        var document = JSONDocument()
        return try batches.flatMap { batch in
            try batch.records.map { entry in
                try Record(
                    line: Array(batch.lines[entry.line].dropLast()), using: &document, knowing: Systems.table
                ).id
            }
        }
    }

    private func makeFolder() throws -> CaptureFolder {
        let folder = try CaptureFolder()
        for number in 1...200 { try folder.put("\(corePings)/-t-\(number).json", CaptureFolder.ping(number)) }
        try folder.put("Documents/MozTelemetry-core.json", "[\(CaptureFolder.ping(201)),\(CaptureFolder.ping(202))]")
        for number in 203...300 {
            try folder.put("Library/Caches/MozTelemetry-Default-core/-t-\(number).json", CaptureFolder.ping(number))
        }
        return folder
    }

    @Test("a unit has so many files, of one store or of several, and all together have each once, in order")
    func order() async throws {
        let folder = try makeFolder()
        defer { withExtendedLifetime(folder) {} }
        let units = Array(ScanUnit.split(try await folder.open(), input: 4))
        let read = try units.map { try batches(of: $0) }
        let stores = read.map { $0.flatMap(\.records).compactMap(\.place?.store) }
        #expect(stores.map(\.count) == [64, 64, 64, 65, 43])
        #expect(stores.map { Set($0) } == [[0], [0], [0], [0, 1, 2], [2]])
        #expect(read.joined().allSatisfy { $0.records.allSatisfy { $0.input == 4 && $0.place?.part == 0 } })
        #expect(try ids(read.flatMap(\.self)) == (1...300).map(CaptureFolder.id))
    }

    @Test("a store whose files tell of each other is not split")
    func readAtOnce() async throws {
        let folder = try CaptureFolder()
        defer { withExtendedLifetime(folder) {} }
        let caches = "Library/Caches/sift-v0_0_1"
        for number in 0..<300 { try folder.put("\(caches)/queues/q\(number)", "no archive") }
        try folder.put("z/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let capture = try await folder.open()
        #expect(capture.stores.map(\.store.isReadAtOnce) == [true, false])
        let units = Array(ScanUnit.split(capture, input: 0))
        #expect(units.count == 2)
        let read = try batches(of: units[0])
        #expect(read.flatMap(\.quarantined).map(\.item.path) == (0..<300).map { "\(caches)/queues/q\($0)" }.sorted())
        #expect(try ids(batches(of: units[1])) == [CaptureFolder.id(1)])
    }

    @Test("what does not fit in a batch comes in the next, and the stores behind it follow")
    func rest() async throws {
        let folder = try CaptureFolder()
        let filler = String(repeating: "x", count: 500_000)
        for number in 1...20 {
            let ping = CaptureFolder.ping(number).replacing(#""iPhone10,6""#, with: "\"\(filler)\"")
            try folder.put("\(corePings)/-t-\(number).json", ping)
        }
        try folder.put("Library/Caches/MozTelemetry-Default-core/-t-21.json", CaptureFolder.ping(21))
        let units = Array(ScanUnit.split(try await folder.open(), input: 0))
        #expect(units.count == 1)
        let read = try batches(of: units[0])
        #expect(read.count == 3)
        #expect(read.allSatisfy { $0.lines.count < Batch.sizeGoal + 600_000 })
        #expect(try ids(read) == (1...21).map(CaptureFolder.id))
        let whole = try await Harvested(folder.open())
        #expect(read.map(\.bytesRead).reduce(0, +) == whole.bytesRead)
    }

    @Test("a capture of nothing has no units")
    func nothing() async throws {
        #expect(Array(ScanUnit.split(try await CaptureFolder().open(), input: 0)).isEmpty)
    }
}
