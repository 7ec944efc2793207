import Bundle
import Capture
import Files
import Foundation
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Compares every case of Adjust's SDK with its oracle, which does not decode stores.
@Suite struct AdjustOracleTests {
    @Test("A capture yields the results that its oracle lists", arguments: try AdjustFixtures.cases)
    func matches(fixture: FixtureCase) async throws {
        let oracle = try AdjustOracle(fixture)
        guard !oracle.hasChoice else { return }
        let input = try await AdjustFixtures.open(fixture)
        let found = try await ReadCapture(input)
        #expect(found.records.count == oracle.records.count)
        for (index, (record, expected)) in zip(found.records, oracle.records).enumerated() {
            try compare(record, expected, "record \(index)")
        }
        #expect(found.duplicates == oracle.duplicates)

        // Packages contain credentials, so only their hashes are listed.
        #expect(found.quarantined.allSatisfy { !$0.isStored && !$0.sha256.isEmpty })
        #expect(found.quarantined.map { "\($0.path) \($0.reject.reason.code)" }.sorted() == oracle.quarantined)
        #expect(Set(found.problemCodes).isSuperset(of: oracle.problems), "\(found.problemCodes)")
        let hasLoss = !found.quarantined.isEmpty || found.problems.contains(where: \.problem.isLoss)
        #expect(hasLoss == (oracle.status == 1), "\(found.problems)")
        #expect(try queues(of: input, found) == oracle.queues)
    }

    private func compare(_ record: Record, _ expected: AdjustOracle.Expected, _ name: String) throws {
        let document = try JSONDocument(Array(record.line.utf8), policy: JSONReadingPolicy(depthLimit: 513))
        #expect(document.count(of: document.root) == expected.members.count + 2, "\(name)")
        for (key, text) in expected.members {
            #expect(Oracle.text(of: key, in: document) == text, "\(name), \(key)")
        }
        // Notes that begin with no case of the format document report the answer to a captured request.
        let notes = Set(record.notes.map(\.code).filter { $0.wholeMatch(of: /A\d+/) != nil })
        #expect(notes == expected.notes, "\(name), notes \(record.notes)")
        #expect(record.held.map(\.code).sorted() == expected.held, "\(name), held")
        #expect(record.contradiction == nil, "\(name)")
        #expect(record.targetNamesRecord, "\(name)")
    }

    /// Returns the reported queues in the order of their stores.
    private func queues(of input: CaptureInput, _ found: ReadCapture) throws -> [AdjustOracle.Queue] {
        guard case .folder(let capture) = input else { return [] }
        var queues: [AdjustOracle.Queue] = []
        for entry in found.reports {
            for queue in entry.report.parts.compactMap(\.queue) {
                let store = try #require(entry.store)
                let packages = try JSONFields(queue.json(at: entry.report.newest).bytes).integer("packages")
                queues.append(
                    AdjustOracle.Queue(
                        path: capture.stores[store].path, packages: packages,
                        readiness: queue.state(at: entry.report.newest).readiness.rawValue))
            }
        }
        return queues
    }

    // MARK: Credentials

    @Test("No output contains a credential or another value that must not be read", arguments: try AdjustFixtures.cases)
    func canaries(fixture: FixtureCase) async throws {
        let oracle = try AdjustOracle(fixture)
        // A case in which several results are acceptable only has to end.
        guard !oracle.canaries.isEmpty || oracle.hasChoice else { return }
        let input = try await AdjustFixtures.open(fixture)
        let found = try await ReadCapture(input)
        for (name, output) in outputs(of: found) + [("bundle", try await bundledBytes(of: input))] {
            let leaks = oracle.canaries.filter { output.range(of: Data($0.utf8)) != nil }
            #expect(leaks == [], "\(name)")
        }
    }

    /// Returns everything that reading the capture reports, by name.
    private func outputs(of found: ReadCapture) -> [(String, Data)] {
        let reports = found.reports.flatMap { entry in
            entry.report.facts
                + entry.report.parts.compactMap(\.queue).flatMap { queue in
                    [
                        queue.sentence(at: entry.report.newest),
                        String(decoding: queue.json(at: entry.report.newest).bytes, as: UTF8.self),
                    ]
                }
        }
        return [
            ("lines", Data(found.lines)), ("quarantine", Data("\(found.quarantined)".utf8)),
            ("problems", Data("\(found.problems)".utf8)), ("reports", Data(reports.joined(separator: "\n").utf8)),
        ]
    }

    /// Returns the names and the decompressed members of a bundle of an input.
    private func bundledBytes(of input: CaptureInput) async throws -> Data {
        let folder = try TemporaryFolder()
        let output = try AtomicOutput(path: folder("b.tar.zst"), replacing: false)
        let limit = JobLimit(jobs: 2)
        let maker = BundleMaker(CaptureReader([input]), level: 1, toolVersion: "1", quarantineLimit: 64 << 20)
        _ = try await maker.make(
            hashes: InputHashes(limit: limit), labels: ["capture"], systems: Systems.table, progress: { _, _ in },
            to: { try output.write($0) })
        try output.commit()
        let names = try tool(["tar", "--zstd", "-tf", folder("b.tar.zst")])
        #expect(!names.isEmpty)
        return names + (try tool(["tar", "--zstd", "-xOf", folder("b.tar.zst")]))
    }

    // MARK: Jobs

    @Test(
        "One job yields the same bytes as several jobs",
        arguments: [
            "gen4-37-0-all-kinds", "form-many", "both-older", "two-apps", "lost-elements", "equal-packages",
            "whole-system", "backup-support", "har-requests", "ndjson-requests",
        ])
    func jobs(name: String) async throws {
        let fixture = try AdjustFixtures.named(name)
        let one = try await ReadCapture(AdjustFixtures.open(fixture), jobs: 1)
        let many = try await ReadCapture(AdjustFixtures.open(fixture), jobs: 8)
        #expect(one.lines.count > 0)
        #expect(one.lines == many.lines && one.quarantined == many.quarantined && one.problems == many.problems)
        #expect(one.duplicates == many.duplicates)
        #expect(one.reports.map(\.report.facts) == many.reports.map(\.report.facts))
    }

    // MARK: Completeness

    @Test("Every case of the format document has a capture")
    func allCasesAreThere() throws {
        #expect(try AdjustFixtures.ids == Set((1...27).map { "A\($0)" }))
        #expect(try AdjustFixtures.cases.count == 94)
    }
}
