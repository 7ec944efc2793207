import Telemetry
import TestSupport
import Testing

/// Tests the JSON output of plans and jobs.
@Suite struct PlanReportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func bundle() async throws -> String {
        var held = [Sample.ping(1, client: "C"), Sample.ping(2, client: "C")]
        held[0].held = [Hold("schema"), .delivered(status: 200)]
        held[1].held = [Hold("schema")]
        let development = Sample.leanplum([#"{"action":"start","devMode":true}"#])
        return try await Sample.bundle(
            held + [Sample.sift([#"{"time":1}"#]), Sample.sift([#"{"time":2}"#]), development], at: folder("b.tar.zst"))
    }

    private func report(_ arguments: String...) async throws -> [String: Any] {
        try await Uploader(arguments + ["--json", "--ledger", folder("l"), try await bundle()]).finish().json()
    }

    /// Checks the counts by reason and by account.
    private func check(_ report: [String: Any]) throws {
        #expect(report["held"] as? [String: Int] == ["delivered": 1, "schema": 2])
        let missing = try #require(report["missingCredentials"] as? [[String: Any]])
        #expect(missing.count == 2)
        for entry in missing {
            let isSift = entry["system"] as? String == "sift"
            #expect(entry["account"] as? String == (isSift ? "acme" : ""))
            #expect(entry["development"] as? Bool == !isSift)
            #expect(entry["records"] as? Int == (isSift ? 2 : 1))
        }
    }

    @Test func planCountsHoldsAndMissingCredentials() async throws {
        let report = try await report("--dry-run")
        try check(report)
        let reasons = reasons(report["reasons"])
        #expect(reasons["held: schema"] == 1 && reasons["missing credential: sift acme"] == 2)
        let waits = try #require(report["waits"] as? [[String: Any]])
        #expect(
            waits.map { $0["reason"] as? String }
                == ["held", "held"] + Array(repeating: "missing credential", count: 3))
        #expect(waits.map { $0["held"] as? [String] } == [["schema", "delivered"], ["schema"], nil, nil, nil])
        #expect(waits.map { $0["account"] as? String } == [nil, nil, "acme", "acme", ""])
        #expect(waits.map { $0["development"] as? Bool } == [nil, nil, false, false, true])
    }

    @Test func jobCountsThemLikeThePlan() async throws {
        try check(try await report("send"))
    }
}
