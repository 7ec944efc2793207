import Foundation
import TestSupport
import Testing

/// Tests jobs whose bundle is damaged while they run.
@Suite struct DamagedBundleTests {
    private let folder: TemporaryFolder
    private let bundle: String
    private var ledger: String { folder("ledger.sqlite") }

    /// Creates a bundle of pings that are so large that each is in a separate segment.
    init() async throws {
        folder = try TemporaryFolder()
        bundle = folder("b.tar.zst")
        let filling = String(repeating: "x", count: 4_300_000)
        let records = (1...3).map { (number: Int) in
            var record = Sample.ping(number, client: "C")
            record.payload = Array(#"{"clientId":"C","filling":"\#(filling)","seq":\#(number)}"#.utf8)
            return record
        }
        try await Sample.bundle(records, at: bundle)
    }

    /// Returns arguments with long time limits, because a late answer would cause another attempt.
    private func arguments(_ server: LoopbackServer, _ more: String...) -> [String] {
        [
            "send", "--ledger", ledger, "--timezone", noonTimezone, "--endpoint", "mozilla=\(server.address)",
            "--read-timeout", "3600", "--exchange-timeout", "3600",
        ] + more + [bundle]
    }

    /// Starts a job and damages its bundle while the first upload waits for its answer.
    private func job(_ server: LoopbackServer, _ more: String...) async throws -> FinishedProgram {
        try await server.setRules(#"[{"hold":true}]"#, keep: 0)
        let uploader = try Uploader(arguments(server) + more)
        while try await server.report().total < 1 {
            try #require(uploader.program.isRunning)
            try await Task.sleep(for: .milliseconds(20))
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: bundle))
        try file.truncate(atOffset: 100)
        try file.close()
        try await server.configure(#"{"rules":[],"release":true}"#)
        return try await uploader.finish()
    }

    @Test(arguments: [false, true])
    func answeredUploadsAreSettledAndSummarized(isQuiet: Bool) async throws {
        let server = try LoopbackServer()
        let whole = try Data(contentsOf: URL(fileURLWithPath: bundle))
        let finished = isQuiet ? try await job(server, "--quiet") : try await job(server)
        #expect(finished.status == 74)
        #expect(finished.text == "3 records: delivered 1, left 2; mozilla: cannot read \(bundle) (2 uploads)\n")
        #expect(finished.errorLines.contains { $0.hasPrefix("pingferry-upload: \(bundle): ") })
        #expect(finished.errors.contains("intact copy"))
        let totals = try await totals(of: ledger)
        #expect(totals["delivered"] as? Int == 1)
        #expect(totals["inFlight"] as? Int == 0)

        // With the original bundle, the remaining records are sent, and no record is sent twice.
        try whole.write(to: URL(fileURLWithPath: bundle))
        #expect(try await Uploader(arguments(server, "--quiet")).finish().status == 0)
        let receipts = try #require(try await server.report().receipts)
        #expect(receipts.map(\.times) == [1, 1, 1])
    }

    @Test func jsonSummaryNamesTheBundle() async throws {
        let server = try LoopbackServer()
        let finished = try await job(server, "--json")
        #expect(finished.status == 74)
        let json = try finished.json()
        #expect((json["failure"] as? String)?.hasPrefix("\(bundle): ") == true)
        #expect(json["records"] as? [String: Int] == ["delivered": 1, "left": 2])
    }

    @Test func bundleDamagedBeforeTheJobIsBadData() async throws {
        let server = try LoopbackServer()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: bundle))
        try file.truncate(atOffset: 100)
        try file.close()
        let finished = try await Uploader(arguments(server)).finish()
        #expect(finished.status == 65)
        #expect(finished.errors.contains(bundle))
        #expect(try await server.report().total == 0)
    }
}
