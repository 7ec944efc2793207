import Foundation
import TestSupport
import Testing

/// Tests that Prometheus's promtool accepts the metrics of jobs.
///
/// The tests run if promtool is installed where `Tests/Oracles/promtool` installs it.
@Suite(.enabled(if: isPromtoolInstalled, "promtool is not installed; make check installs it"))
struct PromtoolTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
    }

    /// Runs a job with `arguments`, and checks its metrics.
    private func checkMetrics(_ arguments: String..., status: Int32) async throws {
        let path = folder("pingferry.prom")
        let job = [
            "send", "--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone, "--endpoint",
            "mozilla=\(server.address)", "--metrics", path,
        ]
        #expect(try await Uploader(job + arguments).finish().status == status)
        try tool([promtool, "check", "metrics"], input: [UInt8](Data(contentsOf: URL(filePath: path))))
    }

    @Test("Metrics of a job that was refused, one that succeeds, and one that cannot begin")
    func promtoolAcceptsMetrics() async throws {
        try await server.setRules(#"[{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let bundle = try await Sample.bundle((1...3).map { Sample.ping($0, client: "C") }, at: folder("b.tar.zst"))
        try await checkMetrics("--daily-limit", "2", bundle, status: 1)
        #expect(try await upload("retry", "--all", "--ledger", folder("ledger.sqlite")).status == 0)
        try await server.setRules()
        try await checkMetrics(bundle, status: 0)
        try await checkMetrics(try folder.put("x", "bad.tar.zst"), status: 65)
    }
}

private let promtool = "\(repository)/.build/tools/promtool"

private let isPromtoolInstalled = FileManager.default.isExecutableFile(atPath: promtool)
