import Foundation
import Parallel
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// The real program, killed at random moments of its work and started again until it has nothing more to do.
@Suite struct CrashTests {
    private static let clients = 9
    /// For each seed; there are two, which run beside each other.
    private static let kills = 20

    /// Clients with more than a day allows and with less, of several types.
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

    /// How many uploads of a client a day allows: few, because each job reads the whole bundle again before it can be
    /// killed at its work.
    static let dailyLimit = 20

    @Test(arguments: [20_180_524, 20_180_525])
    func everyAllowedRecordArrivesOnceSettledWhateverIsKilled(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let records = Self.records()
        let bundle = try await Sample.bundle(records, at: folder("b.tar.zst"))
        let pool = try await BundleIntake(
            [bundle], knowing: Systems.table, limit: JobLimit(jobs: 1), isReleased: { _, _ in false }
        ).pool
        var kills = 0
        var round = 0
        while kills < Self.kills {
            round += 1
            let server = try LoopbackServer()
            try await server.order(#"[{"cut":"after","times":5},{"cut":"before","times":5}]"#, keep: 0)
            var run = Run(
                ledger: folder("ledger-\(round).sqlite"), bundle: bundle, pool: pool, records: records, server: server)
            while try await run.job(killing: &generator) { kills += 1 }
            try await run.checkEnd()
        }
    }

    /// One ledger and one server.
    private struct Run {
        let ledger: String
        let bundle: String
        let pool: CandidatePool
        let records: [Record]
        let server: LoopbackServer
        /// By record, after which job the ledger had it settled first.
        private var settled: [Int: Int] = [:]
        private var epoch = 0

        init(ledger: String, bundle: String, pool: CandidatePool, records: [Record], server: LoopbackServer) {
            (self.ledger, self.bundle, self.pool, self.records, self.server) = (ledger, bundle, pool, records, server)
        }

        /// Starts a job, kills it at a random moment and looks at the ledger.
        /// - Returns: whether it was killed; else it came to its end by itself.
        mutating func job(killing generator: inout SeededGenerator) async throws -> Bool {
            epoch += 1
            try await server.tell(#"{"epoch":\#(epoch)}"#)
            let uploader = try Uploader([
                "send", "--ledger", ledger, "--timezone", noonTimezone, "--endpoint", "mozilla=\(server.address)",
                "--connections", "8", "--daily-limit", "\(CrashTests.dailyLimit)", "--quiet", bundle,
            ])
            let process = uploader.program.identifier
            if Int.random(in: 0..<8, using: &generator) == 0 {
                // While it verifies, plans and opens the ledger.
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &generator)))
                kill(process, SIGKILL)
            } else {
                let requests = Int.random(in: 1...4, using: &generator)
                let delay = Int.random(in: 0...8000, using: &generator)
                try await server.tell(
                    #"{"murder":{"process":\#(process),"requests":\#(requests),"microseconds":\#(delay)}}"#)
            }
            let finished = try await uploader.finish()
            try check(finished)
            return finished.status == 128 + SIGKILL
        }

        /// The ledger is sound, and what it had settled stays settled.
        private mutating func check(_ finished: FinishedProgram) throws {
            #expect([75, 128 + SIGKILL].contains(finished.status), "\(finished.errors)")
            guard FileManager.default.fileExists(atPath: ledger) else { return }
            let view: LedgerView
            do {
                view = try LedgerView(path: ledger)
            } catch {
                // Killed before the ledger was made.
                #expect(epoch == 1 || settled.isEmpty, "\(error)")
                return
            }
            let histories = try view.state(of: pool, today: 0).histories
            for index in records.indices {
                let isSettled = histories[index].outcome == .delivered
                #expect(isSettled || settled[index] == nil, "a settlement was lost")
                if isSettled, settled[index] == nil { settled[index] = epoch }
            }
        }

        /// What the server counted is what the ledger says, and no client is over its limit.
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
                #expect(byClient[client] == min(count, CrashTests.dailyLimit), "\(client)")
            }
        }
    }
}
