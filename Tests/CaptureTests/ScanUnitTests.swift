import JSONText
import Systems
import Telemetry
import Testing

@testable import Capture

/// Tests of the split of a capture into units of work, and their order.
@Suite struct ScanUnitTests {
    /// Reads a unit until nothing is left.
    private func outputs(of unit: ScanUnit, input: Int = 0) throws -> [ScanOutput] {
        var outputs: [ScanOutput] = []
        var rest: ScanUnit? = unit
        while let unit = rest {
            var output = ScanOutput(writingFor: input)
            rest = try unit.read(ScanOptions(), into: &output)
            outputs.append(output)
        }
        return outputs
    }

    private func ids(_ outputs: [ScanOutput]) throws -> [String] {
        var document = JSONDocument()
        return try outputs.flatMap { output in
            try output.entries.map { entry in
                try Record(
                    line: Array(output.lines[entry.line].dropLast()), using: &document, knowing: Systems.table
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

    @Test("Units have a limited number of files, and contain each file of all stores once, in order")
    func order() async throws {
        let folder = try makeFolder()
        defer { withExtendedLifetime(folder) {} }
        let units = Array(ScanUnit.split(try await folder.open()))
        let read = try units.map { try outputs(of: $0, input: 4) }
        let stores = read.map { $0.flatMap(\.entries).compactMap(\.place?.store) }
        #expect(stores.map(\.count) == [64, 64, 64, 65, 43])
        #expect(stores.map { Set($0) } == [[0], [0], [0], [0, 1, 2], [2]])
        #expect(read.joined().allSatisfy { $0.entries.allSatisfy { $0.input == 4 && $0.place?.part == 0 } })
        #expect(try ids(read.flatMap(\.self)) == (1...300).map(CaptureFolder.id))
    }

    @Test("A store whose files refer to each other is not split")
    func readAtOnce() async throws {
        let folder = try CaptureFolder()
        defer { withExtendedLifetime(folder) {} }
        let caches = "Library/Caches/sift-v0_0_1"
        for number in 0..<300 { try folder.put("\(caches)/queues/q\(number)", "no archive") }
        try folder.put("z/\(corePings)/-t-1.json", CaptureFolder.ping(1))
        let capture = try await folder.open()
        #expect(capture.stores.map(\.store.isReadByOneJob) == [true, false])
        let units = Array(ScanUnit.split(capture))
        #expect(units.count == 2)
        let read = try outputs(of: units[0])
        #expect(read.flatMap(\.quarantined).map(\.path) == (0..<300).map { "\(caches)/queues/q\($0)" }.sorted())
        #expect(try ids(outputs(of: units[1])) == [CaptureFolder.id(1)])
    }

    @Test("Findings that do not fit in an output follow in the next one, before those of later stores")
    func continuedOutputs() async throws {
        let folder = try CaptureFolder()
        let filler = String(repeating: "x", count: 500_000)
        for number in 1...20 {
            let ping = CaptureFolder.ping(number).replacing(#""iPhone10,6""#, with: "\"\(filler)\"")
            try folder.put("\(corePings)/-t-\(number).json", ping)
        }
        try folder.put("Library/Caches/MozTelemetry-Default-core/-t-21.json", CaptureFolder.ping(21))
        let units = Array(ScanUnit.split(try await folder.open()))
        #expect(units.count == 1)
        let read = try outputs(of: units[0])
        #expect(read.count == 3)
        #expect(read.allSatisfy { $0.lines.count < ScanOutput.sizeGoal + 600_000 })
        #expect(try ids(read) == (1...21).map(CaptureFolder.id))
        let whole = try await ReadCapture(folder.open())
        #expect(read.map(\.bytesRead).reduce(0, +) == whole.bytesRead)
    }

    @Test("A capture without stores has no units")
    func emptyCapture() async throws {
        #expect(Array(ScanUnit.split(try await CaptureFolder().open())).isEmpty)
    }
}
