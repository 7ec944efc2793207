import Files
import Foundation
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that no record is lost or repeated if the program is killed at random moments.
@Suite struct KilledJobTests {
    private static let clients = 9
    /// The number of kills for each seed.
    ///
    /// The two seeds run in parallel.
    private static let kills = 20

    /// Returns records of several types, for clients with more and fewer records than the daily limit.
    private static func records() -> [Record] {
        var records: [Record] = []
        for client in 0..<clients {
            let name = "00000000-0000-4000-8000-0000000000\(10 + client)"
            for number in 0..<(client % 3 == 0 ? dailyLimit + 4 : 5 + client) {
                let type = ["core", "focus-event", "mobile-event"][number % 3]
                records.append(Sample.ping(client * 1000 + number, client: name, type: type))
            }
        }
        return records
    }

    /// The daily limit of a client.
    ///
    /// It is small, because each job has to read the whole bundle before it sends.
    static let dailyLimit = 20

    @Test(arguments: [20_180_524, 20_180_525])
    func eachRecordIsSettledOnceDespiteKills(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let records = Self.records()
        let bundle = try await Sample.bundle(records, at: folder("b.tar.zst"))
        let pool = try await VerifiedBundles(
            [bundle], knowing: Systems.table, limit: JobLimit(jobs: 1), isReleased: { _, _ in false }
        ).pool
        var kills = 0
        var round = 0
        while kills < Self.kills {
            round += 1
            let server = try LoopbackServer()
            try await server.setRules(#"[{"cut":"after","times":5},{"cut":"before","times":5}]"#, keep: 0)
            var run = Run(
                ledger: folder("ledger-\(round).sqlite"), bundle: bundle, pool: pool, records: records, server: server)
            while try await run.job(killing: &generator) { kills += 1 }
            try await run.checkEnd()
        }
    }

    /// A ledger and a server.
    private struct Run {
        let ledger: String
        let bundle: String
        let pool: CandidatePool
        let records: [Record]
        let server: LoopbackServer
        /// For each settled record, the number of the first job after which the ledger had it.
        private var settled: [Int: Int] = [:]
        private var epoch = 0

        init(ledger: String, bundle: String, pool: CandidatePool, records: [Record], server: LoopbackServer) {
            (self.ledger, self.bundle, self.pool, self.records, self.server) = (ledger, bundle, pool, records, server)
        }

        /// Starts a job, kills it at a random moment and checks the ledger.
        ///
        /// - Returns: Whether the job was killed before it ended.
        mutating func job(killing generator: inout SeededGenerator) async throws -> Bool {
            epoch += 1
            try await server.configure(#"{"epoch":\#(epoch)}"#)
            let uploader = try Uploader([
                "send", "--ledger", ledger, "--timezone", noonTimezone, "--endpoint", "mozilla=\(server.address)",
                "--connections", "8", "--daily-limit", "\(KilledJobTests.dailyLimit)", "--quiet", bundle,
            ])
            let process = uploader.program.identifier
            if Int.random(in: 0..<8, using: &generator) == 0 {
                // The job is killed while it verifies, plans or opens the ledger.
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &generator)))
                kill(process, SIGKILL)
            } else {
                let requests = Int.random(in: 1...4, using: &generator)
                let delay = Int.random(in: 0...8000, using: &generator)
                try await server.configure(
                    #"{"kill":{"process":\#(process),"requests":\#(requests),"microseconds":\#(delay)}}"#)
            }
            let finished = try await uploader.finish()
            try await check(finished)
            return finished.status == 128 + SIGKILL
        }

        /// Checks that the ledger is intact, that settled records stay settled, and that the outcomes in a receipt agree
        /// with the records that the server accepted.
        private mutating func check(_ finished: FinishedProgram) async throws {
            #expect([75, 128 + SIGKILL].contains(finished.status), "\(finished.errors)")
            guard FileManager.default.fileExists(atPath: ledger) else { return }
            let view: LedgerView
            do {
                view = try LedgerView(path: ledger)
            } catch {
                // The job was killed before it created the ledger.
                #expect(epoch == 1 || settled.isEmpty, "\(error)")
                return
            }
            let state = try view.state(of: pool, today: 0)
            for index in records.indices {
                let isSettled = state.history(of: index).outcome == .delivered
                #expect(isSettled || settled[index] == nil, "a settlement was lost")
                if isSettled, settled[index] == nil { settled[index] = epoch }
            }
            let outcomes = try view.recordOutcomes(of: pool, today: 0)
            let accepted = Set(try await server.report().receipts?.filter { $0.accepted > 0 }.map(\.path) ?? [])
            for (record, outcome) in zip(records, outcomes) where outcome.status != .inFlight {
                let isAccepted = accepted.contains(try #require(record.target).path)
                #expect(isAccepted == (outcome.status == .delivered), "\(record.id): \(outcome.status)")
            }
        }

        /// Checks that the ledger agrees with the server, and that no client exceeds its limit.
        func checkEnd() async throws {
            let receipts = try await server.report().receipts ?? []
            var byPath: [String: LoopbackServer.Receipt] = [:]
            var byClient: [String: Int] = [:]
            for receipt in receipts {
                byPath[receipt.path] = receipt
                byClient[receipt.client ?? "", default: 0] += 1
            }
            var wanted: [String: Int] = [:]
            for (index, record) in records.enumerated() {
                wanted[record.client ?? "", default: 0] += 1
                guard let last = settled[index] else { continue }
                let path = try #require(record.target).path
                let receipt = try #require(byPath[path], "settled, but it did not arrive")
                #expect(receipt.sha256 == PayloadHash.hex(of: record.payload))
                #expect(receipt.epoch <= last, "it was sent again after it had been settled")
            }
            #expect(settled.count == receipts.count, "something arrived that was never settled")
            for (client, count) in wanted {
                #expect(byClient[client] == min(count, KilledJobTests.dailyLimit), "\(client)")
            }
        }
    }
}
