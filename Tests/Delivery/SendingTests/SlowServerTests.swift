import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs with servers whose answers are slow, incomplete or invalid.
@Suite struct SlowServerTests {
    private let folder: TemporaryFolder
    private var ledger: String { folder("ledger.sqlite") }
    /// Returns the head of an answer that announces more bytes than the server sends.
    private func head(_ status: String) -> String { #"HTTP/1.1 \#(status)\r\nContent-Length: 100000\r\n\r\n"# }

    init() throws { folder = try TemporaryFolder() }

    private func arguments(_ server: LoopbackServer, _ more: [String]) -> [String] {
        ["send", "--ledger", ledger, "--timezone", noonTimezone]
            + ["mozilla", "sift", "leanplum"].flatMap { ["--endpoint", "\($0)=\(server.address)"] } + more
    }

    private func job(_ server: LoopbackServer, _ more: String...) async throws -> FinishedProgram {
        let environment = [
            "PINGFERRY_SIFT_KEY_acme": "k", "PINGFERRY_LEANPLUM_APP_ID": "app_1",
            "PINGFERRY_LEANPLUM_PRODUCTION_KEY": "key-1",
        ]
        return try await Uploader(arguments(server, more), environment: environment).finish()
    }

    private func sift(_ count: Int) -> [Record] {
        (1...count).map { Sample.sift([#"{"time":\#($0)}"#], client: "I", minute: $0) }
    }

    private func bundle(_ records: [Record]) async throws -> String {
        try await Sample.bundle(records, at: folder("b.tar.zst"))
    }

    /// The rules for the rest of a body: slow, cut, or missing.
    static let bodies = [#""drip":100"#, #""cut":"answer""#, #""times":9"#]

    @Test(arguments: bodies)
    func successDoesNotDependOnItsBody(body: String) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3","raw":"\#(head("200 OK"))so",\#(body)}]"#)
        let finished = try await job(server, "--read-timeout", "5", try await bundle(sift(2)))
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(finished.text == "2 records: delivered 2; nothing is left\n")
        // An attempt is repeated if this machine was too busy to receive the head in time.
        #expect(try await server.report().distinct == 2)
    }

    @Test(arguments: bodies)
    func refusalDoesNotDependOnItsBody(body: String) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/v3","raw":"\#(head("400 Bad"))never",\#(body)}]"#)
        let finished = try await job(server, "--read-timeout", "5", try await bundle(sift(1)))
        #expect(finished.status == 1)
        #expect(finished.errors.contains("refused (400): the server cannot read the request: never"))
        #expect(try await server.report().distinct == 1)
        #expect(try await totals(of: ledger)["refused"] as? Int == 1)
    }

    @Test(arguments: ["200 OK", "400 Bad"])
    func leanplumAnswerNeedsItsBody(status: String) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"path":"/api","raw":"\#(head(status)){\"response\":[","cut":"answer"}]"#)
        let bundle = try await bundle([Sample.leanplum([#"{"action":"start"}"#])])
        let finished = try await job(server, "--attempts", "1", bundle)
        #expect(finished.status == 69)
        #expect(finished.errors.contains("perhaps delivered: the server's answer was cut short"))
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 1)
        try await server.setRules()
        #expect(try await job(server, bundle).text == "1 record: delivered 1; nothing is left\n")
    }

    @Test func slowHeadHasUntilTheDeadline() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"raw":"HTTP/1.1 200 OK\r\nX-Slow: ","drip":50}]"#)
        let finished = try await job(
            server, "--attempts", "1", "--exchange-timeout", "1", "--connect-timeout", "600", "--read-timeout", "600",
            try await bundle(sift(1)))
        #expect(finished.status == 69)
        #expect(finished.errors.contains("perhaps delivered: no answer within 1 s (--exchange-timeout)"))
        #expect(try await totals(of: ledger)["inFlight"] as? Int == 1)
    }

    @Test func invalidAnswerIsReported() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"raw":"220 mail.example ESMTP\r\n","cut":"answer"}]"#)
        let finished = try await job(server, "--attempts", "1", try await bundle(sift(1)))
        #expect(finished.status == 69)
        #expect(finished.errors.contains("the answer of 127.0.0.1:\(server.port) is not HTTP"))
        #expect(!finished.errors.contains("Error"))
    }

    /// Tests that an upload stays in flight only if the head of its answer was not received when the job was stopped.
    @Test(arguments: [(#"{"hold":true}"#, 4, 0), (#"{"raw":"HTTP/1.1 200 OK\r\n\r\n","drip":100}"#, 0, 4)])
    func signalEndsAJobDespiteASlowServer(rule: String, inFlight: Int, delivered: Int) async throws {
        let server = try LoopbackServer()
        try await server.setRules("[\(rule)]")
        let records = (0..<160).map { Sample.ping($0, client: "client-\($0 % 4)") }
        let patient = ["--connections", "4", "--read-timeout", "600", "--exchange-timeout", "3600"]
        let uploader = try Uploader(arguments(server, patient + [try await bundle(records)]))
        while try await server.report().total < 4 { try await Task.sleep(for: .milliseconds(20)) }
        uploader.program.send(SIGTERM)
        let finished = try await uploader.finish()
        #expect(finished.status == 75, "\(finished.errors)")
        #expect(finished.text.hasPrefix("160 records: "))
        #expect(finished.text.contains("the job was stopped"))
        #expect(finished.errors.contains("stopping; requests under way have 3 seconds to receive their answers"))
        let totals = try await totals(of: ledger)
        #expect(totals["inFlight"] as? Int == inFlight)
        #expect(totals["delivered"] as? Int == delivered)
        #expect(try await server.report().total == 4)
    }
}
