import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests jobs that report their start and end to a monitoring service.
@Suite struct MonitoringTests {
    /// The part of the address that must not be printed.
    private static let secret = "4f8e2a61-9c1d-4c7b-8f53-1d0a7e6c2b11"
    private static let accepting = #"{"path":"/\#(secret)","status":200,"text":"OK"}"#

    private let folder: TemporaryFolder
    /// The server of the uploads, which is also the monitoring service.
    private let server: LoopbackServer
    private var url: String { "\(server.address)/\(Self.secret)" }

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try await server.setRules("[\(Self.accepting)]")
    }

    private func arguments(_ more: [String]) -> [String] {
        ["send", "--ledger", folder("ledger.sqlite"), "--timezone", noonTimezone, "--endpoint", server.address] + more
    }

    private func job(_ more: String..., environment: [String: String] = [:]) async throws -> FinishedProgram {
        try await job(more, environment: environment)
    }

    /// Runs a job, and checks that it does not print the secret.
    private func job(_ more: [String], environment: [String: String] = [:]) async throws -> FinishedProgram {
        let finished = try await Uploader(arguments(more), environment: environment).finish()
        #expect(!finished.text.contains(Self.secret) && !finished.errors.contains(Self.secret))
        return finished
    }

    private func bundle() async throws -> String {
        try await Sample.bundle((1...2).map { Sample.ping($0, client: "C") }, at: folder("b.tar.zst"))
    }

    /// A message that the service received.
    private struct Message: Equatable {
        /// The last part of the path.
        let name: String
        let text: String
    }

    /// Returns the messages that the service received from `server`.
    ///
    /// Repetitions are omitted, because a message is repeated if this machine is too busy to answer in time.
    private func messages(of server: LoopbackServer) async throws -> [Message] {
        var messages: [Message] = []
        for request in try await server.report().requests where request.path.hasPrefix("/\(Self.secret)/") {
            #expect(request.method == "POST")
            let name = String(request.path.dropFirst(Self.secret.count + 2))
            let message = Message(name: name, text: String(decoding: request.body, as: UTF8.self))
            if messages.last != message { messages.append(message) }
        }
        return messages
    }

    private func messages() async throws -> [Message] { try await messages(of: server) }

    @Test(arguments: ["", "/"])
    func jobReportsItsStartAndItsSummary(slash: String) async throws {
        let finished = try await job("--ping-url", url + slash, try await bundle())
        #expect(finished.status == 0)
        let summary = "2 records: delivered 2; nothing is left"
        #expect(finished.text == summary + "\n")
        #expect(try await messages() == [Message(name: "start", text: ""), Message(name: "0", text: summary)])
        let requests = try await server.report().requests
        #expect(requests.first?.path == "/\(Self.secret)/start")
        #expect(requests.last?.path == "/\(Self.secret)/0")
        #expect(requests.last?.header("content-type") == "text/plain; charset=utf-8")
        #expect(requests.first?.header("user-agent")?.hasPrefix("Pingferry/") == true)
    }

    @Test func refusedAndWaitingRecordsAreReported() async throws {
        try await server.setRules(#"[\#(Self.accepting),{"contains":"\"seq\":1}","status":400,"text":"no"}]"#)
        let path = try await bundle()
        let waiting = try await job("--ping-url", url, "--daily-limit", "0", path)
        #expect(waiting.status == 75)
        let refused = try await job("--quiet", "--ping-url", url, path)
        #expect(refused.status == 1)
        let messages = try await messages()
        #expect(messages.map(\.name) == ["start", "75", "start", "1"])
        #expect(messages.map(\.text) == ["", String(waiting.text.dropLast()), "", String(refused.text.dropLast())])
        #expect(refused.text.contains("refused 1"))
    }

    @Test func errorsBeforeTheFirstUploadAreReported() async throws {
        let good = try await bundle()
        let bad = try folder.put("x", "bad.tar.zst")
        let credentials = try folder.put("x", "credentials.json", mode: 0o600)
        let jobs: [(arguments: [String], status: Int32, words: String)] = [
            ([good, bad], 65, "nothing was sent"), ([folder("none.tar.zst")], 66, "No such file or directory"),
            (["--ledger-must-exist", good], 66, "\(folder("ledger.sqlite")): the ledger does not exist"),
            (["--credentials", credentials, good], 78, "invalid JSON at byte 0"),
        ]
        for (arguments, status, words) in jobs {
            let count = try await messages().count
            #expect(try await job(["--ping-url", url] + arguments).status == status)
            let new = try await messages().dropFirst(count)
            #expect(new.map(\.name) == ["start", "\(status)"])
            #expect(new.last?.text.contains(words) == true, "\(new)")
        }
        // The exit status includes the failure to write the metrics.
        #expect(try await job("--ping-url", url, "--metrics", folder("none/metrics"), good).status == 73)
        #expect(try await messages().last?.name == "73")
    }

    @Test func lockedLedgerIsReported() async throws {
        try await server.setRules(#"[\#(Self.accepting),{"hold":true}]"#)
        let path = try await bundle()
        let other = try Uploader(arguments([path]))
        while try await server.report().total < 1 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await job("--ping-url", url, path).status == 75)
        #expect(try await messages().map(\.name) == ["start", "75"])
        #expect(try await messages().last?.text.contains("in use by process \(other.program.identifier)") == true)
        other.program.send(SIGKILL)
        _ = try await other.finish()
    }

    @Test func receiptDoesNotReplaceTheAddress() async throws {
        let file = try folder.put(url, "url", mode: 0o600)
        let finished = try await job("--ping-url-file", file, "--force", "--receipt", file, try await bundle())
        #expect(finished.status == 73)
        #expect(finished.errorLines.first == "pingferry-upload: cannot replace \(file): it is part of the input")
        #expect(try folder.text("url") == url)
    }

    // MARK: Signals

    @Test func signalDuringUploadsIsReported() async throws {
        try await server.setRules(#"[\#(Self.accepting),{"hold":true}]"#)
        let receipt = folder("receipt.json")
        let uploader = try Uploader(arguments(["--ping-url", url, "--receipt", receipt, try await bundle()]))
        while try await !server.report().requests.contains(where: { $0.path.hasPrefix("/submit") }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        uploader.program.send(SIGTERM)
        #expect(try await uploader.finish().status == 75)
        #expect(FileManager.default.fileExists(atPath: receipt))
        let messages = try await messages()
        #expect(messages.map(\.name) == ["start", "75"])
        #expect(messages.last?.text.contains("the job was stopped") == true)
    }

    /// Tests a signal that arrives while `ssh-keygen` checks a signature.
    @Test func signalBeforeTheFirstUploadIsReported() async throws {
        let path = try await bundle()
        _ = try tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder("key"))
        _ = try tool("ssh-keygen", "-q", "-Y", "sign", "-n", "pingferry-bundle", "-f", folder("key"), path)
        let signers = try folder.put("ines@example.org \(try folder.text("key.pub"))", "signers")
        let script = """
            #!/bin/sh
            : > '\(folder("started"))'
            while kill -0 $PPID 2> /dev/null; do sleep 0.1; done

            """
        try folder.putProgram(script, "bin/ssh-keygen")
        let receipt = folder("receipt.json")
        let uploader = try Uploader(
            arguments(["--ping-url", url, "--receipt", receipt, "--signers", signers, path]),
            environment: ["PATH": "\(folder("bin")):\(searchPath)"])
        try uploader.program.waitForFile(at: folder("started"))
        uploader.program.send(SIGTERM)
        let finished = try await uploader.finish()
        #expect(finished.status == 128 + SIGTERM)
        #expect(finished.errors.contains("interrupted; nothing was written to \(receipt)"))
        #expect(!folder.names.contains { $0.contains("receipt.json") })
        #expect(try await messages().map(\.name) == ["start", "\(128 + SIGTERM)"])
        #expect(try await server.report().requests.allSatisfy { $0.path.hasPrefix("/\(Self.secret)") })
    }

    // MARK: Failures of the service

    @Test(arguments: [
        (#""status":404,"text":"no check at URL""#, "status 404"), (#""status":500,"text":"URL""#, "status 500"),
        (#""status":302,"headers":{"Location":"URL/elsewhere"}"#, "status 302"),
        (#""cut":"after""#, "the server closed the connection without an answer"),
    ])
    func failureOfTheServiceChangesNothing(answer: String, reason: String) async throws {
        let rule = answer.replacing("URL", with: url)
        try await server.setRules(#"[{"path":"/\#(Self.secret)",\#(rule)}]"#)
        let metrics = folder("pingferry.prom")
        let finished = try await job("--quiet", "--ping-url", url, "--metrics", metrics, try await bundle())
        #expect(finished.status == 0 && finished.text.isEmpty)
        let lines = finished.errorLines.filter { $0.contains("monitoring") }
        let start = "pingferry-upload: the monitoring service did not accept the"
        #expect(
            lines == ["start signal", "exit status"].map { "\(start) \($0): \(server.address)/…: \(reason)" },
            "\(finished.errors)")
        #expect(try await messages().map(\.name) == ["start", "0"])
        #expect(try !folder.text("pingferry.prom").contains(Self.secret))
    }

    @Test func missingServiceChangesNothing() async throws {
        let service = try LoopbackServer()
        service.stop()
        let (url, path) = ("\(service.address)/\(Self.secret)", try await bundle())
        for options in [["--json"], ["--log-json", "--quiet"]] {
            let finished = try await job(options + ["--ping-url", url, path])
            #expect(finished.status == 0)
            #expect(finished.errors.contains("exit status: \(service.address)/…: cannot connect to 127.0.0.1:"))
        }
    }

    @Test func messagesUseTheAuthoritiesAndTheProxyOfUploads() async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make("server")
        let service = try LoopbackServer(
            "--certificate=\(certificate)", "--key=\(key)", authority: certificates.authority)
        try await service.setRules("[\(Self.accepting)]")
        let url = "\(service.address)/\(Self.secret)"
        let path = try await bundle()
        let untrusted = try await job("--ping-url", url, path)
        #expect(untrusted.status == 0)
        #expect(untrusted.errors.contains("/…: no trusted connection: unable to get local issuer certificate (see"))
        #expect(try await messages(of: service) == [])
        #expect(try await job("--ping-url", url, "--ca-file", certificates.authority, path).status == 0)
        #expect(try await messages(of: service).map(\.name) == ["start", "0"])
        let proxy = try LoopbackServer("--proxy", "--proxy-authorization=Basic nobody")
        let refused = try await job("--ping-url", url, "--proxy", "http://127.0.0.1:\(proxy.port)", path)
        #expect(refused.status == 0)
        #expect(refused.errors.contains("/…: the proxy 127.0.0.1:\(proxy.port) refuses to connect to 127.0.0.1:"))
        #expect(try await messages(of: service).count == 2)
    }

    // MARK: Address

    @Test func addressComesFromTheOptionTheFileOrTheEnvironment() async throws {
        let path = try await bundle()
        let file = try folder.put("\(url)/file\n", "url", mode: 0o600)
        let environment = ["PINGFERRY_PING_URL": "\(url)/variable"]
        let jobs: [(options: [String], environment: [String: String], name: String)] = [
            ([], environment, "variable"), (["--ping-url-file", file], environment, "file"),
            (["--ping-url", "\(url)/option"], environment, "option"), (["--ping-url-file", file], [:], "file"),
        ]
        for (options, environment, name) in jobs {
            let count = try await messages().count
            #expect(try await job(options + [path], environment: environment).status == 0)
            #expect(try await messages().dropFirst(count).map(\.name) == ["\(name)/start", "\(name)/0"])
        }
        let count = try await messages().count
        #expect(try await job(path, environment: ["PINGFERRY_PING_URL": ""]).status == 0)
        #expect(try await job("--dry-run", path, environment: environment).status == 0)
        #expect(try await messages().count == count)
    }

    @Test func unusableAddressPreventsTheJob() async throws {
        let path = try await bundle()
        let open = try folder.put(url, "open", mode: 0o644)
        let readable = try await job("--ping-url-file", open, path)
        #expect(readable.status == 77)
        #expect(readable.errors.contains("\(open): other users can read or change the secret in this file"))
        #expect(try await job("--ping-url-file", folder("none"), path).status == 66)
        for contents in ["", "\(url)\n\(url)", "\(url)?a"] {
            let file = try folder.put(contents, "malformed", mode: 0o600)
            let finished = try await job("--ping-url-file", file, path)
            #expect(finished.status == 78 && finished.errors.contains("the file must contain an address such as"))
        }
        let variable = try await job(path, environment: ["PINGFERRY_PING_URL": "ftp://\(Self.secret)"])
        #expect(variable.status == 78 && variable.errors.contains("PINGFERRY_PING_URL must be an address such as"))
        for (options, words) in [
            (["--ping-url", "\(url)#a"], "--ping-url must be an address such as https://example.org/path"),
            (["--ping-url", url, "--ping-url-file", open], "--ping-url cannot be used with --ping-url-file"),
            (["--ping-url", url, "--dry-run"], "--dry-run cannot be used with"),
        ] {
            let finished = try await job(options + [path])
            #expect(finished.status == 64 && finished.errors.contains(words), "\(finished.errors)")
        }
        #expect(try await server.report().total == 0)
    }

    @Test func permissionsInProtectedFolderAreNotChecked() throws {
        let path = try folder.put(url, "url", mode: 0o440)
        let address = try MonitoringAddress(file: path, protectedFolder: folder.path)
        #expect(address == MonitoringAddress(url))
        #expect(throws: CredentialError.accessibleToOthers(path)) { try MonitoringAddress(file: path) }
    }

    @Test(arguments: [
        ("https://hc.example.org/a/b", "/a/b"), ("http://127.0.0.1:8000/ping/a/", "/ping/a"),
        ("https://[::1]/a%2Fb", "/a%2Fb"), ("https://hc.example.org", ""), ("https://hc.example.org/", ""),
    ])
    func addressIsParsed(text: String, path: String) throws {
        let address = try #require(MonitoringAddress(text))
        #expect(address.path == path)
        #expect(text.hasPrefix(address.endpoint.description))
        #expect(address.description == "\(address.endpoint)/…")
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("/a"))
    }

    @Test(arguments: [
        "", "hc.example.org/a", "ftp://hc.example.org/a", "https:///a", "https://user@hc.example.org/a",
        "https://user:word@hc.example.org/a", "https://hc.example.org/a?b", "https://hc.example.org/a#b",
        "https://hc.example.org/a b", "https://hc.example.org/a\r\n", "https://hc.example.org:0/a",
        "https://hc.example.org/é",
    ])
    func otherAddressIsRejected(text: String) { #expect(MonitoringAddress(text) == nil) }

    @Test func longTextIsCutBetweenCharacters() {
        let limit = MonitoringService.maximumTextSize
        #expect(MonitoringService.body("a") == Array("a".utf8))
        #expect(MonitoringService.body(String(repeating: "a", count: limit)).count == limit)
        for (shift, expected) in [(0, limit - 1), (1, limit), (2, limit - 2)] {
            let text = String(repeating: "a", count: shift) + String(repeating: "€", count: limit)
            let body = MonitoringService.body(text)
            #expect(body.count == expected)
            #expect(text.hasPrefix(String(decoding: body, as: UTF8.self)))
        }
    }
}
