import Foundation
import SQLite
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs of the program while the clock of the machine is set back and forward.
@Suite struct ClockChangeTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer
    private var ledger: String { folder("ledger.sqlite") }

    private static let dailyLimit = 4

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try await server.setRules()
    }

    /// Runs the program, which must not wait, with its clock at an instant in UTC.
    private func run(_ arguments: [String], at instant: String) async throws -> FinishedProgram {
        let environment = clockVariables("@\(instant)").merging(["TZ": "UTC"]) { $1 }
        return try await Uploader(arguments + ["--json", "--ledger", ledger], environment: environment).finish()
    }

    /// Runs a job and returns the counts of records in its summary.
    private func job(_ bundles: String..., at instant: String, status: Int32) async throws -> [String: Int] {
        let finished = try await run(
            [
                "send", "--daily-limit", "\(Self.dailyLimit)", "--per-type-limit", "unlimited", "--attempts", "1",
                "--log-json", "--endpoint", "mozilla=\(server.address)",
            ] + bundles, at: instant)
        #expect(finished.status == status, "\(finished.errors)")
        for line in finished.errorLines where line.contains(#""client""#) {
            #expect(line.contains(#""time":"\#(instant.prefix(10))T"#), "the program does not see the clock")
        }
        return try #require(finished.json()["records"] as? [String: Int])
    }

    /// Returns the used quota of the day and the number of records in flight for each client.
    private func status(at instant: String) async throws -> [String: [Int]] {
        let finished = try await run(["status"], at: instant)
        #expect(finished.status == 0, "\(finished.errors)")
        let clients = try #require(finished.json()["clients"] as? [[String: Any]])
        return try Dictionary(
            uniqueKeysWithValues: clients.map { client in
                (
                    try #require(client["client"] as? String),
                    [try #require(client["today"] as? Int), try #require(client["inFlight"] as? Int)]
                )
            })
    }

    /// Returns the number of uploads of each client that have arrived so far.
    private func arrivals() async throws -> [String: Int] {
        let receipts = try await server.report().receipts ?? []
        return receipts.reduce(into: [:]) { $0[$1.client ?? "", default: 0] += 1 }
    }

    private func checkLedger() throws {
        let file = try DatabaseFile(path: ledger, .writing)
        #expect(try file.read { try $0.first("PRAGMA integrity_check") } == "ok")
        #expect(try file.read { try $0.first("SELECT max(taken) FROM quotas") } == Self.dailyLimit)
    }

    /// Returns pings with consecutive numbers, starting at `first`.
    private static func pings(_ client: String, _ count: Int, from first: Int) -> [Record] {
        (first..<first + count).map { Sample.ping($0, client: client) }
    }

    @Test func clockSetBackFreesNoQuotaAndRepeatsNoUpload() async throws {
        let first = try await Sample.bundle(
            Self.pings("a", 10, from: 100) + Self.pings("b", 2, from: 200), at: folder("a.tar.zst"))
        let second = try await Sample.bundle(Self.pings("c", 6, from: 300), at: folder("b.tar.zst"))

        #expect(
            try await job(first, at: "2026-06-03 12:00:00", status: 75) == ["delivered": 6, "daily-limit": 6])
        #expect(try await arrivals() == ["a": 4, "b": 2])

        // The clock is set back by 31 hours. The uploads of 3 June count on this day too, except for a new client.
        #expect(
            try await job(first, second, at: "2026-06-02 05:00:00", status: 75)
                == ["delivered": 4, "delivered-before": 6, "daily-limit": 8])
        #expect(try await arrivals() == ["a": 4, "b": 2, "c": 4])
        #expect(try await status(at: "2026-06-02 05:10:00") == ["a": [4, 0], "b": [2, 0], "c": [4, 0]])

        // The clock is set forward again, to the day whose quota is used up.
        #expect(
            try await job(first, second, at: "2026-06-03 13:00:00", status: 75)
                == ["delivered": 2, "delivered-before": 10, "daily-limit": 6])
        #expect(try await arrivals() == ["a": 4, "b": 2, "c": 6])
        #expect(try await status(at: "2026-06-03 13:10:00") == ["a": [4, 0], "b": [2, 0], "c": [2, 0]])

        #expect(
            try await job(first, second, at: "2026-06-04 12:00:00", status: 75)
                == ["delivered": 4, "delivered-before": 12, "daily-limit": 2])
        #expect(
            try await job(first, second, at: "2026-06-05 12:00:00", status: 0)
                == ["delivered": 2, "delivered-before": 16])

        let receipts = try #require(try await server.report().receipts)
        #expect(receipts.count == 18)
        #expect(receipts.allSatisfy { $0.times == 1 })
        try checkLedger()
    }

    @Test func uploadInFlightIsRepeatedWithinItsDailyLimit() async throws {
        let bundle = try await Sample.bundle(Self.pings("a", 6, from: 100), at: folder("a.tar.zst"))
        // The fourth upload arrives three times, but its connection is cut without an answer.
        try await server.setRules(#"[{"contains":"\"seq\":103","cut":"after","times":3}]"#)
        #expect(
            try await job(bundle, at: "2026-06-03 12:00:00", status: 75)
                == ["delivered": 3, "left": 1, "daily-limit": 2])
        #expect(try await status(at: "2026-06-03 12:10:00") == ["a": [4, 1]])

        // The upload counts toward the quota of 3 June. The quota of the day before is used up.
        #expect(
            try await job(bundle, at: "2026-06-02 05:00:00", status: 75) == ["delivered-before": 3, "daily-limit": 3])
        #expect(try await status(at: "2026-06-02 05:10:00") == ["a": [4, 1]])

        #expect(
            try await job(bundle, at: "2026-06-03 13:00:00", status: 75)
                == ["delivered": 1, "delivered-before": 3, "daily-limit": 2])
        #expect(try await arrivals() == ["a": 4])
        #expect(try await status(at: "2026-06-03 13:10:00") == ["a": [4, 0]])

        #expect(
            try await job(bundle, at: "2026-06-04 12:00:00", status: 0) == ["delivered": 2, "delivered-before": 4])
        let receipts = try #require(try await server.report().receipts)
        #expect(receipts.map(\.times).sorted() == [1, 1, 1, 1, 1, 4])
        try checkLedger()
    }
}
