import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that jobs of the program send nothing that a user withdrew, and that it states the facts that decided.
@Suite struct WithdrawalJobTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try await server.setRules()
    }

    private static let client = "5F0D1C7A-2B94-4E0C-9D3E-8A61B7C2F415"
    private static let path = "Library/Preferences/group.org.mozilla.ios.Focus.plist"

    private static func ping(_ number: Int, capture: String, client: String = client, held: [Hold] = []) -> Record {
        var record = Sample.ping(number, client: client)
        record.source = Source(capture: capture, path: "Documents/\(number)", store: .mozillaPingFile, index: 0)
        record.held = held
        return record
    }

    private static func withdrawal(_ reason: Withdrawal.Reason) -> Withdrawal {
        Withdrawal(reason, of: .init(.mozilla, .client, id: client), capture: "tuesday", path: path)
    }

    /// Writes two bundles: `mon` with three pings of two clients, and `tue` with a withdrawal and a copy of a ping.
    private func bundles(_ reason: Withdrawal.Reason) async throws -> (mon: String, tue: String) {
        let mon = [
            Self.ping(1, capture: "monday"), Self.ping(2, capture: "monday"),
            Self.ping(3, capture: "monday", client: "D"),
        ]
        let tue = [Self.ping(1, capture: "tuesday", held: [Hold(reason.rawValue)])]
        return (
            try await Sample.bundle(mon, at: folder("mon.tar.zst")),
            try await Sample.bundle(tue, withdrawals: [Self.withdrawal(reason)], at: folder("tue.tar.zst"))
        )
    }

    private func run(_ command: String, _ arguments: String...) async throws -> FinishedProgram {
        let address = command == "send" ? ["--endpoint", "mozilla=\(server.address)"] : []
        return try await Uploader([command, "--ledger", folder("ledger")] + address + arguments).finish()
    }

    /// Returns the numbers of the pings that arrived.
    private func numbers() async throws -> [Int] {
        try await server.report().requests.compactMap {
            $0.path.split(separator: "/").dropFirst(2).first.flatMap { Int($0.suffix(4), radix: 16) }
        }.sorted()
    }

    @Test("A person who opted out in any bundle is not sent in any order, until a release that states what it does")
    func optedOut() async throws {
        let (mon, tue) = try await bundles(.optedOut)
        for bundles in [[mon, tue], [tue, mon]] {
            let plan = try await Uploader(["send", "--dry-run", "--ledger", folder("none")] + bundles).finish()
            #expect(
                plan.lines.suffix(3) == [
                    "1 upload planned of 4 records: send 1, duplicate 1, held: opted-out 2",
                    "opted-out: tuesday, \(Self.path) (2)", "held by a copy in tuesday: opted-out (1)",
                ], "\(plan.text)")
        }
        let plan = try await run("send", "--dry-run", "--json", mon, tue).json()
        let facts = try #require(plan["facts"] as? [[String: Any]])
        #expect(facts.map { $0["code"] as? String } == ["opted-out", "opted-out"])
        #expect(facts.map { $0["copy"] as? Bool } == [false, true])
        #expect(facts.map { $0["capture"] as? String } == ["tuesday", "tuesday"])
        #expect(facts.map { $0["path"] as? String } == [Self.path, nil])
        #expect(facts.map { $0["records"] as? Int } == [2, 1])
        let waits = try #require(plan["waits"] as? [[String: Any]])
        #expect(
            waits.map { ($0["fact"] as? [String: Any])?["text"] as? String } == [
                "held by a copy in tuesday: opted-out", "opted-out: tuesday, \(Self.path)",
                "opted-out: tuesday, \(Self.path)",
            ])

        let job = try await run("send", mon, tue)
        #expect(job.status == 1)
        #expect(job.text.contains("delivered 1, duplicate 1, held: opted-out 2"), "\(job.text)")
        #expect(try await numbers() == [3])
        let status = try await run("status", mon, tue)
        #expect(
            status.lines == [
                "\(mon): done: 1 delivered; held: opted-out 2", "  opted-out: tuesday, \(Self.path) (1)",
                "  held by a copy in tuesday: opted-out (1)", "\(tue): done: held: opted-out 1",
                "  opted-out: tuesday, \(Self.path) (1)",
            ], "\(status.text)")

        let release = try await run("release", "--reason", "opted-out", "--bundle", mon, "--bundle", tue)
        #expect(release.lines == ["2 records released: data of a person who declined will be sent"])
        #expect(try await run("send", tue, mon).status == 0)
        #expect(try await numbers() == [1, 2, 3])
    }

    @Test("A withdrawal that is final cannot be released, and later jobs know it from the ledger")
    func finalWithdrawal() async throws {
        let (mon, tue) = try await bundles(.forgotten)
        #expect(try await run("send", tue).status == 0)
        #expect(try await run("release", "--reason", "forgotten", "--bundle", mon).status == 64)
        let plan = try await run("send", "--dry-run", mon)
        #expect(
            plan.lines.suffix(2) == [
                "1 upload planned of 3 records: send 1, held: forgotten 2", "forgotten: tuesday, \(Self.path) (2)",
            ], "\(plan.text)")
        #expect(try await run("send", mon).status == 0)
        #expect(try await run("prune", "--older-than", "7d").status == 0)
        #expect(try await run("send", mon).status == 0)
        #expect(try await numbers() == [3])
        let status = try await run("status", "--json", mon).json()
        let bundle = try #require((status["bundles"] as? [[String: Any]])?.first)
        #expect((bundle["held"] as? [String: Int]) == ["forgotten": 2])
        #expect((bundle["facts"] as? [[String: Any]])?.compactMap { $0["records"] as? Int } == [2])
    }

    @Test("A dry run stores no withdrawals")
    func dryRun() async throws {
        let (mon, tue) = try await bundles(.deletionRequested)
        _ = try await run("send", try await Sample.bundle([Self.ping(9, capture: "x", client: "E")], at: folder("x")))
        #expect(try await run("send", "--dry-run", tue).status == 0)
        #expect(try await run("send", "--dry-run", mon).text.contains("3 uploads planned of 3 records: send 3"))
        let both = try await run("send", mon, tue)
        #expect(both.text.contains("delivered 1, deletion-requested 2, duplicate 1"), "\(both.text)")
        #expect(try await numbers() == [3, 9])
    }

    @Test("A damaged bundle that a job skips does not contribute its withdrawals, and a damaged one is named in status")
    func damagedBundle() async throws {
        let (mon, tue) = try await bundles(.forgotten)
        var bytes = try folder.data("tue.tar.zst")
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: tue))
        let status = try await run("send", "--keep-going", mon, tue)
        #expect(status.status == 65)
        let report = try await run("status", tue, mon)
        #expect(report.status == 65)
        #expect(report.lines.count == 1 && report.lines[0].hasPrefix("\(mon): done"), "\(report.text)")
    }
}
