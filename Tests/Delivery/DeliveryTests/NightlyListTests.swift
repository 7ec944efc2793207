import Leanplum
import Sift
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that a server receives each event once if a growing queue is captured every night.
@Suite struct NightlyListTests {
    private func event(_ number: Int) -> String { #"{"mobile_event_type":"e\#(number)","time":\#(number)}"# }

    private func request(_ number: Int) -> String {
        #"{"action":"track","reqId":"R\#(number)","retryCount":\#(number)}"#
    }

    @Test(
        "The server receives each event once from three nightly captures of one queue",
        arguments: [SystemName.sift, .leanplum], [5_000_000, 150])
    func growingQueue(system: SystemName, largest: Int) async throws {
        let folder = try TemporaryFolder(inMemory: true)
        var server: [String] = []
        // The job of the second night fails halfway. The job of the third night has all three bundles.
        let nights = [1...4, 3...9, 3...12]
        for (night, events) in nights.enumerated() {
            let record =
                system == .sift
                ? Sample.sift(events.map(event), minute: night) : Sample.leanplum(events.map(request), minute: night)
            try await Sample.bundle([record], at: folder("\(night).tar.zst"))
            let bundles = night == 2 ? [2, 1, 0] : [night]
            server += try await job(
                bundles.map { folder("\($0).tar.zst") }, folder, night, largest, failsAt: night == 1 ? 1 : nil)
        }
        // The last job sends the events that the failed job did not send.
        let wanted = (1...12).map { system == .sift ? event($0) : request($0) }
        #expect(server.sorted() == wanted.sorted())
        #expect(try await job([0, 1, 2].map { folder("\($0).tar.zst") }, folder, 3, largest, failsAt: nil) == [])
        let overview = try LedgerView(path: folder("l")).overview(today: 0)
        #expect(overview.counts.values.map(\.deliveredCount) == [3])
        #expect(overview.counts.values.map(\.inFlightCount) == [0])
    }

    /// Runs a job and returns the events that the server received.
    private func job(_ bundles: [String], _ folder: TemporaryFolder, _ night: Int, _ largest: Int, failsAt: Int?)
        async throws
        -> [String]
    {
        let now = Sample.time(night * 24 * 60 + 600)
        let ledger = try Ledger(path: folder("l"), now: now)
        let intake = try await VerifiedBundles(
            bundles, knowing: Systems.table, limit: .init(jobs: 2), isReleased: { _, _ in false })
        let rules = PlanRules(maximumListBytes: largest)
        let state = try ledger.view.state(of: intake.pool, today: rules.days.day(of: now))
        let plan = Planner.plan(intake.pool, state, rules: rules, now: now)
        try ledger.begin(plan)
        var arrived: [String] = []
        for (number, send) in plan.sends.enumerated() {
            let record = try intake.source.record(of: send)
            #expect(try await ledger.mark([send], at: now) == [true])
            let fails = number == failsAt
            if !fails { arrived += events(record.payload) }
            let outcome: Outcome = fails ? .retryLater(reason: "503") : .delivered(status: 200)
            try await ledger.settle([Settlement(send: send, recordID: record.id, outcome: outcome)], at: now)
            if fails { break }
        }
        return arrived
    }

    /// Returns the text of each event in a request.
    private func events(_ payload: [UInt8]) -> [String] {
        let text = String(decoding: payload, as: UTF8.self)
        #expect(text.hasPrefix(#"{"data":["#) && text.hasSuffix("]}"))
        return text.dropFirst(9).dropLast(2).split(separator: "},{").map { part in
            "{" + part.drop { $0 == "{" }.reversed().drop { $0 == "}" }.reversed() + "}"
        }
    }
}
