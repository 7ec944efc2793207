import Files
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests that writing events in parallel batches does not change the result.
@Suite struct SiftBatchTests {
    /// Returns a queue of events with app states, some of which are not valid.
    private func queue(_ count: Int) -> [UInt8] {
        let events = (0..<count).map { number -> Archived in
            if number % 97 == 13 { return .text("no event") }
            return .event(
                1_583_154_000_000 + Int64(number),
                [
                    "installationId": .text("I\(number % 2)"),
                    "iosAppState": .object(["battery": .real("0.\(number + 1)"), "k\(number % 5)": .integer(3)]),
                ])
        }
        return SiftArchiveBuilder.queue(events)
    }

    private func read(_ bytes: [UInt8], jobs: Int) -> (ScanOutput, [Record]) {
        var store = SiftStore(applicationID: nil, comparesEvents: false, limit: JobLimit(jobs: jobs))
        var found = ScanOutput(capture: "c")
        let source = Source(capture: "c", path: "q", store: .siftQueue, index: 0)
        withoutErrors { try store.read(bytes, of: .queue(identifier: "q"), part: 0, from: source, into: &found) }
        return (found, store.finish().records.map(\.record))
    }

    @Test("The number of batches does not change the records", arguments: [1, 63, 64, 65, 511, 512, 513, 1500])
    func batchCounts(count: Int) throws {
        let bytes = queue(count)
        let (found, records) = read(bytes, jobs: 1)
        let (parallelFound, parallelRecords) = read(bytes, jobs: 8)
        #expect(records.map(\.payload) == parallelRecords.map(\.payload))
        #expect(records.map(\.notes) == parallelRecords.map(\.notes))
        #expect(found.problems == parallelFound.problems)
        let lost = (0..<count).count { $0 % 97 == 13 }
        #expect(found.problems.count == lost)
        let payload = String(decoding: try #require(records.first).payload, as: UTF8.self)
        let times = payload.matches(of: /"time":(\d+)/).compactMap { Int($0.1) }
        #expect(times == (0..<count).filter { $0 % 97 != 13 }.map { 1_583_154_000_000 + $0 })
    }

    @Test("Keys that the key table does not accept are written the same by one writer as by several")
    func manyKeys() throws {
        let events = (0..<1500).map { number in
            Archived.event(
                Int64(number),
                [
                    "fields": .object([
                        "z": .text("1"), "key\(number)": .text("2"), "a": .text("3"),
                        String(repeating: "k", count: 300): .text("4"),
                    ])
                ])
        }
        let bytes = SiftArchiveBuilder.queue(events)
        let (found, records) = read(bytes, jobs: 1)
        let (_, parallelRecords) = read(bytes, jobs: 8)
        #expect(found.problems.isEmpty)
        #expect(records.map(\.payload) == parallelRecords.map(\.payload))
        let payload = records.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
        for number in [0, 1023, 1024, 1499] {
            let long = String(repeating: "k", count: 300)
            let fields = #"{"a":"3","key\#(number)":"2","\#(long)":"4","z":"1"}"#
            #expect(payload.contains(fields))
        }
    }

    @Test("A batch ends early when its text becomes long")
    func longBatch() throws {
        let long = String(repeating: "x", count: 700_000)
        let events = (0..<6).map { Archived.event(Int64($0), ["path": .text("\($0)\(long)")]) }
        let (found, records) = read(SiftArchiveBuilder.queue(events), jobs: 8)
        #expect(found.problems.isEmpty)
        let payload = String(decoding: try #require(records.first).payload, as: UTF8.self)
        #expect(payload.matches(of: /"path":"(\d)x/).map(\.1) == ["0", "1", "2", "3", "4", "5"])
    }
}
