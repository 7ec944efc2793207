import Dispatch
import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Events are written in batches, perhaps at the same time; that must not show.
@Suite struct SiftBatchTests {
    private static let together: Spread = { count, work in
        DispatchQueue.concurrentPerform(iterations: count, execute: work)
    }

    /// Events with states, and some that are refused.
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

    private func read(_ bytes: [UInt8], spread: @escaping Spread) -> (ScanOutput, [Record]) {
        var store = SiftStore(capture: "c", applicationID: nil, comparesEvents: false, spread: spread)
        var found = ScanOutput(capture: "c", path: "q")
        store.read(bytes, of: .queue(identifier: "q"), part: 0, into: &found)
        return (found, store.finish().found.map(\.record))
    }

    @Test(arguments: [1, 63, 64, 65, 511, 512, 513, 1500])
    func batchesDoNotShow(count: Int) throws {
        let bytes = queue(count)
        let (found, records) = read(bytes, spread: oneAfterAnother)
        let (foundTogether, recordsTogether) = read(bytes, spread: Self.together)
        #expect(records.map(\.payload) == recordsTogether.map(\.payload))
        #expect(records.map(\.notes) == recordsTogether.map(\.notes))
        #expect(found.problems == foundTogether.problems)
        let lost = (0..<count).count { $0 % 97 == 13 }
        #expect(found.problems.count == lost)
        let payload = String(decoding: try #require(records.first).payload, as: UTF8.self)
        let times = payload.matches(of: /"time":(\d+)/).compactMap { Int($0.1) }
        #expect(times == (0..<count).filter { $0 % 97 != 13 }.map { 1_583_154_000_000 + $0 })
    }

    @Test("more keys than a table accepts, and long keys, are written the same by one writer as by several")
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
        let (found, records) = read(bytes, spread: oneAfterAnother)
        let (_, recordsTogether) = read(bytes, spread: Self.together)
        #expect(found.problems.isEmpty)
        #expect(records.map(\.payload) == recordsTogether.map(\.payload))
        let payload = records.map { String(decoding: $0.payload, as: UTF8.self) }.joined()
        for number in [0, 1023, 1024, 1499] {
            let long = String(repeating: "k", count: 300)
            let fields = #"{"a":"3","key\#(number)":"2","\#(long)":"4","z":"1"}"#
            #expect(payload.contains(fields))
        }
    }

    @Test func aBatchThatGrowsLongEndsEarly() throws {
        let long = String(repeating: "x", count: 700_000)
        let events = (0..<6).map { Archived.event(Int64($0), ["path": .text("\($0)\(long)")]) }
        let (found, records) = read(SiftArchiveBuilder.queue(events), spread: Self.together)
        #expect(found.problems.isEmpty)
        let payload = String(decoding: try #require(records.first).payload, as: UTF8.self)
        #expect(payload.matches(of: /"path":"(\d)x/).map(\.1) == ["0", "1", "2", "3", "4", "5"])
    }
}
