import Bundle
import Files
import Foundation
import Mozilla
import Synchronization
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that bundles are verified before a plan is made, and that records are read again for sending.
@Suite struct VerifiedBundlesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func intake(_ paths: String...) async throws -> VerifiedBundles {
        try await VerifiedBundles(
            paths, knowing: Systems.table, limit: JobLimit(jobs: 2), isReleased: { _, _ in false })
    }

    private func plan(_ intake: VerifiedBundles) -> Plan {
        Planner.plan(
            intake.pool, LedgerState(), rules: PlanRules(limits: UploadLimits(daily: nil, perType: nil)),
            now: Sample.time(0))
    }

    @Test(
        "A bundle with a target outside its system's grammar is rejected as a whole",
        arguments: [
            "//host/submit/telemetry/A/core/Focus/1/release/1", "/submit/telemetry/A/core/Focus/1/release/1\r\nX: y",
            "/submit/telemetry/../core/Focus/1/release/1", "http://host/", "/v3/accounts/acme/mobile_events", "/api",
        ])
    func invalidMozillaTarget(path: String) async throws {
        var record = Sample.ping("A")
        record.target = Target(path: path)
        try await Sample.bundle([Sample.ping("B"), record], at: folder("x"))
        await #expect(throws: UnusableBundlesError.self) { try await intake(folder("x")) }
    }

    @Test(
        "A bundle with a Sift target that is not the path of one account is rejected as a whole",
        arguments: [
            "//host/v3/accounts/acme/mobile_events", "/v3/accounts/acme/../other/mobile_events",
            "/v3/accounts/acme%2F..%2Fother/mobile_events", "/v3/accounts/acme\r\nHost: x/mobile_events",
            "/v3/accounts//mobile_events",
        ])
    func invalidSiftTarget(path: String) async throws {
        var record = Sample.sift([#"{"time":1}"#])
        record.target = Target(path: path)
        try await Sample.bundle([Sample.ping("B"), record], at: folder("x"))
        let failure = await #expect(throws: UnusableBundlesError.self) { try await intake(folder("x")) }
        #expect(failure.map { "\($0.bundles[0].error)" }?.contains("the target is not in the system's grammar") == true)
    }

    @Test("Of several payloads with one id and equal times, that of a parent is sent first in any order of the bundles")
    func parentsFirst() async throws {
        var parents: [String] = []
        var paths: [String] = []
        for number in 0..<4 {
            var record = Sample.ping("A")
            record.payload = Array(#"{"clientId":"C","seq":\#(number)}"#.utf8)
            let path = try await Sample.bundle([record], parents: parents, at: folder("\(number)"))
            parents = [try BundleReader(path: path, knowing: Systems.table).manifest.digest]
            paths.append(path)
        }
        // Bundles that do not continue others are in the order of their digests.
        for number in 4..<6 {
            var record = Sample.ping("B")
            record.payload = Array(#"{"clientId":"C","seq":\#(number)}"#.utf8)
            paths.append(try await Sample.bundle([record], at: folder("\(number)")))
        }
        var sent: Set<[[UInt8]]> = []
        for first in paths.indices {
            for isReversed in [false, true] {
                let rotated = paths[first...] + paths[..<first]
                let intake = try await VerifiedBundles(
                    isReversed ? rotated.reversed() : Array(rotated), knowing: Systems.table, limit: JobLimit(jobs: 2),
                    isReleased: { _, _ in false })
                let plan = plan(intake)
                sent.insert(try plan.queues.flatMap(\.sends).map { try intake.source.record(of: $0).payload })
                // Bundles are reported in the given order.
                #expect(intake.pool.bundles.first?.path == (isReversed ? rotated.last : rotated.first))
            }
        }
        #expect(sent.count == 1)
        #expect(sent.first?.contains(Array(#"{"clientId":"C","seq":0}"#.utf8)) == true)
        #expect(sent.first?.count == 2)
    }

    @Test("A client whose id is spelled differently in two bundles is one client, and both bundles are valid")
    func spellingsOfClient() async throws {
        try await Sample.bundle([Sample.ping("A", client: "Ab"), Sample.ping("B", client: nil)], at: folder("1"))
        try await Sample.bundle(
            [Sample.ping("C", client: "new"), Sample.ping("D", client: "aB"), Sample.ping("E", client: "")],
            at: folder("2"))
        let plan = plan(try await intake(folder("1"), folder("2")))
        #expect(plan.queues.map { plan.names.clients[$0.clientIndex].client } == ["Ab", nil, "new", ""])
        #expect(plan.queues.map(\.sends.count) == [2, 1, 1, 1])
    }

    @Test("A damaged bundle prevents the use of all bundles, and the error names it")
    func damagedBundle() async throws {
        try await Sample.bundle([Sample.ping("A")], at: folder("good"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder("good")))
        bytes[bytes.count / 2] ^= 4
        try bytes.write(to: URL(fileURLWithPath: folder("bad")))
        let failure = await #expect(throws: UnusableBundlesError.self) {
            try await intake(folder("good"), folder("bad"))
        }
        #expect(failure?.bundles.map(\.path) == [folder("bad")])
    }

    @Test("Uploads contain the exact payload of the bundle, in any order and with any cache size")
    func payloads() async throws {
        let filling = String(repeating: "x", count: 200_000)
        let records = (0..<60).map { number in
            var record = Sample.ping("\(number)", client: "\(number % 7)", minute: 100 - number)
            record.payload = Array(#"{"a":"\#(filling)","n":\#(number)}"#.utf8)
            return record
        }
        try await Sample.bundle(Array(records[..<25]), at: folder("1"))
        try await Sample.bundle(Array(records[25...]), at: folder("2"))
        let intake = try await intake(folder("1"), folder("2"))
        let readers = try ["1", "2"].map { try BundleReader(path: folder($0)) }
        for source in [intake.source, UploadSource(readers, cacheByteLimit: 1)] {
            var seen: Set<String> = []
            for send in plan(intake).sends {
                let record = try source.record(of: send)
                #expect(record == records[Int(record.id) ?? 0])
                seen.insert(record.id)
            }
            #expect(seen.count == 60)
        }
    }

    @Test("While a segment is decoded, other tasks run on the thread of the task that needs one of its records")
    func loadingInBackground() async throws {
        try await Sample.bundle([Sample.ping("A")], at: folder("1"))
        let intake = try await intake(folder("1"))
        let send = try #require(plan(intake).sends.first)
        let (executor, order) = (QueueExecutor(), Order())
        intake.source.loadingQueue.suspend()
        let loading = Task(executorPreference: executor) {
            let record = try await intake.source.loadRecord(of: send)
            order.append("loaded")
            return record
        }
        await Task(executorPreference: executor) { order.append("other") }.value
        intake.source.loadingQueue.resume()
        #expect(try await loading.value == Sample.ping("A"))
        #expect(order.names == ["other", "loaded"])
        // The segment is cached now, so that the queue is not used again.
        intake.source.loadingQueue.suspend()
        defer { intake.source.loadingQueue.resume() }
        #expect(try await intake.source.loadRecord(of: send) == Sample.ping("A"))
    }

    @Test("A part of a list contains only its own events")
    func listParts() async throws {
        let record = Sample.sift(["{\"time\":1}", "{\"time\":2}", "{\"time\":3}"])
        try await Sample.bundle([record], at: folder("1"))
        let intake = try await intake(folder("1"))
        let rules = PlanRules(maximumListBytes: 35)
        let plan = Planner.plan(intake.pool, LedgerState(), rules: rules, now: Sample.time(0))
        let payloads = try plan.sends.map {
            String(decoding: try intake.source.record(of: $0).payload, as: UTF8.self)
        }
        #expect(payloads == [#"{"data":[{"time":1},{"time":2}]}"#, #"{"data":[{"time":3}]}"#])
    }

    @Test("A bundle that is replaced after verification is not sent")
    func replacedBundle() async throws {
        try await Sample.bundle([Sample.ping("A", seq: 1)], at: folder("1"))
        let intake = try await intake(folder("1"))
        try await Sample.bundle([Sample.ping("A", seq: 2)], at: folder("2"))
        // A new file at the same path does not affect the open file.
        try FileManager.default.removeItem(atPath: folder("1"))
        try FileManager.default.moveItem(atPath: folder("2"), toPath: folder("1"))
        let send = try #require(plan(intake).sends.first)
        #expect(String(decoding: try intake.source.record(of: send).payload, as: UTF8.self) == #"{"seq":1}"#)
        // The open file itself is overwritten here.
        try await Sample.bundle([Sample.ping("A", seq: 3)], at: folder("3"))
        let fresh = try await self.intake(folder("3"))
        let other = try FileHandle(forWritingTo: URL(fileURLWithPath: folder("3")))
        try other.write(contentsOf: Data(contentsOf: URL(fileURLWithPath: folder("1"))))
        try other.close()
        #expect(throws: (any Error).self) { try fresh.source.record(of: try #require(plan(fresh).sends.first)) }
    }
}

/// An executor that runs tasks one after another, in the order in which they become ready.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The names of events in their order.
private final class Order: Sendable {
    private let state = Mutex<[String]>([])
    var names: [String] { state.withLock { $0 } }

    func append(_ name: String) { state.withLock { $0.append(name) } }
}
