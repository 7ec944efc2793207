import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Adjust

/// Tests that hostile queues have a limited cost.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 3 and 9.
@Suite struct AdjustLimitTests {
    /// Returns a package with many parameters.
    private func package(parameters: Int, path: String = "/event", time: Bool = true) -> StoredPackage {
        var package = StoredPackage.event()
        package.path = path
        if !time { package.parameters.removeAll { $0.0 == "created_at" } }
        package.parameters += (0..<parameters).map { ("k\($0)", "v") }
        return package
    }

    @Test("A package that is listed 20,000 times is read once")
    func repeated() throws {
        let count = 20_000
        let bytes = PackageQueue.archive([package(parameters: 200)], order: Array(repeating: 0, count: count))
        // Reading each element would exceed the number of values that a queue of this size may have.
        #expect(count * 400 > 4 * bytes.count + 1_000_000)
        var found = 0
        var isInOrder = true
        var ids: Set<String> = []
        let reading = try QueueReading(
            bytes,
            visit: { record in
                isInOrder = isInOrder && record.source.index == found
                found += 1
                ids.insert(record.id)
            }, isKept: { _ in false })
        #expect(found == count && isInOrder)
        #expect(ids.count == 1)
        #expect(reading.reject == nil)
    }

    @Test("A repeated package without a time is numbered [A14]")
    func numbered() throws {
        let bytes = PackageQueue.archive([package(parameters: 1, time: false)], order: Array(repeating: 0, count: 40))
        let records = try QueueReading(bytes).records
        let id = try #require(records.first?.id)
        #expect(records.map(\.id) == [id] + (2...40).map { "\(id)#\($0)" })
        #expect(records.allSatisfy { $0.contradiction == nil })
    }

    @Test("Alternating packages are numbered by type")
    func alternating() throws {
        let packages = ["/event", "/revenue"].map { package(parameters: 1, path: $0, time: false) }
        let records = try QueueReading(PackageQueue.archive(packages, order: [0, 1, 0, 1, 1, 0])).records
        let id = try #require(records.first?.id)
        #expect(records.map(\.type) == ["event", "revenue", "event", "revenue", "revenue", "event"])
        #expect(records.map(\.id) == [id, id, "\(id)#2", "\(id)#2", "\(id)#3", "\(id)#3"])
    }

    @Test("Packages that alternate are read until the values that a queue of this size may have are used up")
    func manyValues() throws {
        let count = 2000
        let packages = ["/event", "/revenue"].map { package(parameters: 500, path: $0) }
        let bytes = PackageQueue.archive(packages, order: (0..<count).map { $0 % 2 })
        #expect(count * 1000 > 4 * bytes.count + 1_000_000)
        var found = 0
        let reading = try QueueReading(bytes, visit: { _ in found += 1 }, isKept: { _ in false })
        #expect(found > 100 && found < count)
        #expect(found + reading.lossCount == count)
        let reason = try #require(reading.reject).reason
        #expect(reason.hasPrefix("A3 the first of ") && reason.contains("budget"))
    }

    @Test("Packages that share a huge string are read until the bytes that a queue of this size may have are used up")
    func hugeString() throws {
        let (count, size) = (400, 300_000)
        let text = String(repeating: "x", count: size)
        let packages = (0..<count).map { StoredPackage.event(["fb_id": text, "event_count": "\($0)"]) }
        let bytes = PackageQueue.archive(packages)
        #expect(bytes.count < 4 << 20)
        var (found, total) = (0, 0)
        let reading = try QueueReading(
            bytes,
            visit: { record in
                found += 1
                total += record.payload.count
            }, isKept: { _ in false })
        #expect(found > 100 && found < count)
        #expect(found + reading.lossCount == count)
        #expect(total <= 64 * bytes.count + 64 << 20 + 2 * size)
    }

    @Test("A package whose parameters share a large string is lost before it is written in full")
    func sharedString() throws {
        var package = StoredPackage.event()
        let text = String(repeating: "x", count: 100_000)
        package.parameters += (0..<400).map { ("k\($0)", text) }
        let reading = try QueueReading([package, .event()])
        #expect(reading.records.map(\.source.index) == [1])
        #expect(try #require(reading.reject).reason.contains("budget-exceeded"))
    }

    @Test("Names of megabytes are not sent, noted or repeated in records")
    func longNames() throws {
        let long = String(repeating: "e\u{301}", count: 1 << 20)
        var package = StoredPackage.event()
        (package.sdk, package.agent, package.kind) = (long, long, long)
        let record = try #require(try QueueReading([package]).records.first)
        #expect(record.target?.headers == [:])
        #expect(record.notes.allSatisfy { $0.utf8.count < 400 })
        #expect(Set(record.notes.map { $0.prefix(3) }) == ["A13", "A16"])
    }

    @Test("The first value of a repeated parameter applies, and the record is held [A4]")
    func repeatedParameter() throws {
        let record = try #require(try QueueReading([.event(["revenue": "1", "revenue": "2"])]).records.first)
        #expect(String(decoding: record.payload, as: UTF8.self).contains(#""revenue":"1""#))
        #expect(record.notes.contains { $0.hasPrefix("A4 ") } && record.held.contains(where: \.isSchema))
    }

    @Test("A damaged element does not affect the others, and the losses are reported once [A3]")
    func losses() throws {
        var other = StoredPackage.event()
        other.className = "EvilPackage"
        let bytes = PackageQueue.archive([.event(), other, .event(["a": "b"])], order: [1, 0, 1, 1, 2, 1])
        let reading = try QueueReading(bytes)
        #expect(reading.records.map(\.source.index) == [1, 4])
        let reject = try #require(reading.reject)
        #expect(reject.reason.hasPrefix("A3 the first of 4 lost elements: element 0: "))
        #expect(reading.lossCount == 4)
        let one = try #require(try QueueReading([other, .event()]).reject)
        #expect(one.reason.hasPrefix("A3 element 0: "))
    }

    @Test("A queue without elements has neither records nor losses [A17]")
    func empty() throws {
        let reading = try QueueReading(PackageQueue.archive([]))
        #expect(reading.records.isEmpty && reading.reject == nil)
    }

    @Test("A file that contains no queue is rejected", arguments: ["", "bplist00", "[]", "<plist><array/></plist>"])
    func noQueue(text: String) {
        #expect(throws: (any Error).self) { try QueueReading(Array(text.utf8)) }
    }
}
