import Foundation
import HTTP
import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests requests over real connections to a server on loopback.
@Suite struct SenderTests {
    private static let path = "/submit/telemetry/0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11/core/Focus/5.0/release/2?v=4"

    private func request(_ path: String = path, body: String = "{}") throws -> UploadRequest {
        try UploadRequest(
            uploads(.mozilla), target: Target(path: path), payload: Array(body.utf8), credential: .none, secrets: .none,
            now: try #require(Timestamp(milliseconds: 0)), agent: "Pingferry/1")
    }

    private func settings(_ address: String) throws -> SenderSettings {
        var settings = SenderSettings(
            agent: "Pingferry/1", endpoints: [.mozilla: try #require(Endpoint(address))],
            systems: Systems.table)
        // The limits are long, because the machine may be busy.
        settings.connectTimeout = 600
        settings.exchangeTimeout = 86_400
        settings.readTimeout = 600
        return settings
    }

    /// Returns settings with short time limits, for servers that do not answer.
    private func shortTimeoutSettings(_ address: String) throws -> SenderSettings {
        var settings = try settings(address)
        settings.readTimeout = 1
        return settings
    }

    /// Starts a server, which uses TLS if `certificates` is not `nil`.
    private func server(_ certificates: Certificates?) throws -> LoopbackServer {
        guard let certificates else { return try LoopbackServer() }
        let (certificate, key) = try certificates.make("server")
        return try LoopbackServer(
            "--certificate=\(certificate)", "--key=\(key)", authority: certificates.authority)
    }

    /// A sender that sends all requests to the server of Mozilla's pings.
    private struct MozillaSender: Sendable {
        let sender: Sender
        let server: Server

        func send(_ request: UploadRequest) async throws(SendError) -> Answer {
            try await sender.send(request, to: server)
        }
    }

    /// Returns the server of Mozilla's pings.
    private func mozillaServer(in settings: SenderSettings) throws -> Server {
        try #require(settings.servers[TypeName(system: .mozilla, name: "core")])
    }

    /// Runs a body with a sender, and shuts the sender down.
    private func withSender<Value>(
        _ settings: SenderSettings, _ body: (MozillaSender) async throws -> Value
    ) async throws -> Value {
        let now = try #require(Timestamp(rfc3339: "1994-11-06T08:49:00Z"))
        let server = try mozillaServer(in: settings)
        let sender = try Sender(settings, servers: [server]) { now }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(MozillaSender(sender: sender, server: server)))
        } catch {
            result = .failure(error)
        }
        await sender.shutdown()
        return try result.get()
    }

    private func answer(_ sender: MozillaSender, body: String = "{}") async throws -> Answer {
        try await sender.send(request(body: body))
    }

    /// Sends a request and returns its error.
    private func failure(_ settings: SenderSettings) async throws -> SendError? {
        let request = try request()
        return try await withSender(settings) { sender async throws in
            do throws(SendError) {
                _ = try await sender.send(request)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func requestArrivesUnchanged() async throws {
        let server = try LoopbackServer()
        try await server.setRules()
        try await withSender(settings(server.address)) { sender async throws in
            #expect(try await answer(sender, body: #"{"v":7}"#) == Answer(status: 200))
        }
        let arrived = try #require(try await server.report().requests.first)
        #expect(arrived.method == "POST")
        #expect(arrived.path == Self.path)
        #expect(arrived.body == Data(#"{"v":7}"#.utf8))
        #expect(arrived.header("Content-Length") == "7")
        #expect(arrived.header("Content-Type") == "application/json; charset=utf-8")
        #expect(arrived.header("User-Agent") == "Pingferry/1")
        #expect(arrived.header("Host") == "127.0.0.1:\(server.port)")
        #expect(
            Set(arrived.headers.map { $0[0].lowercased() }) == ["host", "user-agent", "content-type", "content-length"])
    }

    @Test(arguments: [false, true])
    func connectionIsReused(isEncrypted: Bool) async throws {
        let certificates = try Certificates()
        let server = try server(isEncrypted ? certificates : nil)
        var settings = try settings(server.address)
        settings.identity.certificateAuthoritiesPath = certificates.authority
        try await withSender(settings) { sender async throws in
            for _ in 1...50 { #expect(try await answer(sender).status == 200) }
        }
        // Without reuse there would be 51 connections, including one for the report. A connection that was idle for
        // more than a second is not reused, which may occur often on a busy machine.
        #expect(try await server.report().connections < 50)
    }

    @Test func closedIdleConnectionIsNotReused() async throws {
        let server = try LoopbackServer("--idle-ms=100")
        try await withSender(settings(server.address)) { sender async throws in
            for _ in 1...3 {
                #expect(try await answer(sender).status == 200)
                while try await server.report().idle > 0 { try await Task.sleep(for: .milliseconds(10)) }
            }
        }
        #expect(try await server.report().total == 3)
    }

    @Test func answerContainsHeaderAndBody() async throws {
        let server = try LoopbackServer()
        try await server.setRules(
            #"[{"status":429,"headers":{"Retry-After":"Sun, 06 Nov 1994 08:49:37 GMT"},"text":"slow down","times":1}]"#)
        try await withSender(settings(server.address)) { sender async throws in
            let answer = try await answer(sender)
            #expect(answer == Answer(status: 429, retryAfter: 37, body: Array("slow down".utf8)))
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        let (server, elsewhere) = (try LoopbackServer(), try LoopbackServer())
        try await server.setRules(#"[{"status":307,"headers":{"Location":"\#(elsewhere.address)/submit/x"}}]"#)
        try await withSender(settings(server.address)) { sender async throws in
            let answer = try await answer(sender)
            #expect(answer.status == 307 && answer.location == "\(elsewhere.address)/submit/x")
        }
        #expect(try await elsewhere.report().total == 0)
    }

    @Test(arguments: [("before", 0), ("after", 1)])
    func cutConnectionIsDisconnected(moment: String, received: Int) async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"cut":"\#(moment)"}]"#)
        #expect(try await failure(settings(server.address))?.kind == .disconnected)
        #expect(try await server.report().total == received)
    }

    @Test func silentServerIsUnanswered() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"stall":60000,"status":200}]"#)
        #expect(try await failure(shortTimeoutSettings(server.address)) == SendError(.unanswered, "no answer in time"))
    }

    @Test func serverThatIsDownIsNotConnected() async throws {
        let server = try LoopbackServer()
        let settings = try settings(server.address)
        server.stop()
        let failure = try await failure(settings)
        #expect(failure?.kind == .notConnected)
        #expect(failure?.description == "cannot connect to 127.0.0.1:\(server.port): Connection refused")
    }

    @Test func unresolvableNameIsNotConnected() async throws {
        let failure = try await failure(settings("http://nowhere.invalid"))
        #expect(failure == SendError(.notConnected, "no address found for nowhere.invalid"))
    }

    // MARK: Encryption

    @Test func certificateOfATrustedAuthorityIsAccepted() async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make("server")
        let server = try LoopbackServer("--certificate=\(certificate)", "--key=\(key)")
        var settings = try settings(server.address)
        settings.identity.certificateAuthoritiesPath = certificates.authority
        try await withSender(settings) { sender async throws in
            #expect(try await answer(sender).status == 200)
        }
    }

    @Test(arguments: ["unknown authority", "expired", "another name"])
    func untrustedCertificateIsRejected(reason: String) async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make(
            "server", names: reason == "another name" ? "DNS:example.org" : "IP:127.0.0.1",
            isExpired: reason == "expired")
        let server = try LoopbackServer("--certificate=\(certificate)", "--key=\(key)")
        var settings = try settings(server.address)
        let other = try Certificates()
        settings.identity.certificateAuthoritiesPath =
            reason == "unknown authority" ? other.authority : certificates.authority
        let failure = try #require(try await failure(settings))
        #expect(failure.kind == .notTrusted, "\(failure)")
        let words = [
            "another name": "does not name this host", "expired": "certificate has expired",
            "unknown authority": "unable to get local issuer certificate",
        ]
        #expect(failure.description.contains(try #require(words[reason])))
    }

    @Test func clientCertificateIsSent() async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make("server")
        let own = try certificates.make("client", names: "DNS:client")
        let server = try LoopbackServer(
            "--certificate=\(certificate)", "--key=\(key)", "--client-authority=\(certificates.authority)")
        var settings = try settings(server.address)
        settings.identity.certificateAuthoritiesPath = certificates.authority
        // The alert of the server can be lost, because on loopback the server closes the connection first.
        let kind = try #require(try await failure(settings)).kind
        #expect(kind == .notTrusted || kind == .disconnected)
        settings.identity.certificate = own.certificate
        settings.identity.key = own.key
        try await withSender(settings) { sender async throws in
            #expect(try await answer(sender).status == 200)
        }
    }

    @Test func keyReadableByOthersIsRejected() throws {
        let certificates = try Certificates()
        let own = try certificates.make("client")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: own.key)
        var settings = try settings("https://127.0.0.1:1")
        settings.identity.certificate = own.certificate
        settings.identity.key = own.key
        #expect(throws: CredentialError.accessibleToOthers(own.key)) {
            try Sender(settings, servers: [try mozillaServer(in: settings)]) { SystemClock.now }
        }
    }

    @Test func fileWithoutCertificatesIsRejected() throws {
        let folder = try TemporaryFolder()
        var settings = try settings("https://127.0.0.1:1")
        settings.identity.certificateAuthoritiesPath = try folder.put("nothing", "ca.pem")
        #expect(throws: CredentialError.malformed(folder("ca.pem"), "the file contains no PEM certificates")) {
            try Sender(settings, servers: [try mozillaServer(in: settings)]) { SystemClock.now }
        }
    }

    // MARK: Proxies

    @Test(arguments: [false, true])
    func proxyConnectsToTheServer(isEncrypted: Bool) async throws {
        let certificates = try Certificates()
        let (certificate, key) = try certificates.make("server")
        let server =
            isEncrypted ? try LoopbackServer("--certificate=\(certificate)", "--key=\(key)") : try LoopbackServer()
        let proxy = try LoopbackServer("--proxy", "--proxy-authorization=Basic dXNlcjpwYXNz")
        var settings = try settings(server.address)
        settings.identity.certificateAuthoritiesPath = certificates.authority
        settings.proxies = ProxyRules(always: try #require(Proxy("http://user:pass@127.0.0.1:\(proxy.port)")))
        try await withSender(settings) { sender async throws in
            for _ in 1...3 { #expect(try await answer(sender).status == 200) }
        }
        settings.proxies = ProxyRules(always: try #require(Proxy("http://user:wrong@127.0.0.1:\(proxy.port)")))
        try await withSender(settings) { sender async throws in
            let name = Array("127.0.0.1:\(proxy.port)".utf8)
            #expect(try await answer(sender) == Answer(status: 407, body: name))
        }
    }

    @Test func proxyThatRefusesToConnectIsNamed() async throws {
        let server = try LoopbackServer()
        let proxy = try LoopbackServer("--proxy")
        var settings = try settings(server.address)
        settings.proxies = ProxyRules(always: try #require(Proxy("127.0.0.1:\(proxy.port)")))
        server.stop()
        let words = "the proxy 127.0.0.1:\(proxy.port) refuses to connect to 127.0.0.1:\(server.port)"
        #expect(try await failure(settings) == SendError(.notConnected, words))
    }

    @Test func proxyThatIsDownIsNamedWithoutItsCredential() async throws {
        let server = try LoopbackServer()
        let proxy = try LoopbackServer("--proxy")
        var settings = try settings(server.address)
        settings.proxies = ProxyRules(always: try #require(Proxy("http://user:secret@127.0.0.1:\(proxy.port)")))
        proxy.stop()
        let words = "cannot connect to the proxy 127.0.0.1:\(proxy.port): Connection refused"
        #expect(try await failure(settings) == SendError(.notConnected, words))
        settings.proxies = ProxyRules(always: try #require(Proxy("http://user:secret@nowhere.invalid:3128")))
        let unknown = "no address found for the proxy nowhere.invalid:3128"
        #expect(try await failure(settings) == SendError(.notConnected, unknown))
    }

    @Test(arguments: [
        (HTTPError.closed, "the connection through the proxy p:3128 was closed without an answer"),
        (.cut, "the connection through the proxy p:3128 was cut"),
        (.connectionTimedOut(isAtProxy: false), "no connection to the proxy p:3128 in time"),
        (.connectionTimedOut(isAtProxy: true), "no connection through the proxy p:3128 in time"),
    ])
    func errorsBehindAProxyNameIt(failure: HTTPError, words: String) throws {
        let endpoint = try #require(Endpoint("http://127.0.0.1:1"))
        let route = Route(endpoint: endpoint, proxy: Proxy("http://user:secret@p:3128"))
        #expect(SendError(failure, on: route).description == words)
    }

    @Test func timeoutBehindAProxyNamesIt() async throws {
        let (server, proxy) = (try LoopbackServer(), try LoopbackServer("--proxy"))
        try await server.setRules(#"[{"hold":true}]"#)
        var settings = try shortTimeoutSettings(server.address)
        settings.proxies = ProxyRules(always: try #require(Proxy("127.0.0.1:\(proxy.port)")))
        let words = "no answer through the proxy 127.0.0.1:\(proxy.port) in time"
        #expect(try await failure(settings) == SendError(.unanswered, words))
    }

    // MARK: Requests that may have arrived

    /// Tests that the HTTP client does not silently retry on a reused connection, because the outcome of the first
    /// attempt would be lost.
    @Test(arguments: ["after", "before"])
    func cutRequestOnAReusedConnectionIsNotRepeated(moment: String) async throws {
        let server = try LoopbackServer()
        try await withSender(settings(server.address)) { sender async throws in
            #expect(try await answer(sender).status == 200)
            try await server.setRules(#"[{"cut":"\#(moment)","times":1}]"#)
            await #expect(throws: SendError.self) { try await answer(sender) }
            #expect(try await server.report().total == (moment == "after" ? 2 : 1))
            #expect(try await answer(sender).status == 200)
        }
    }

    /// With TLS, the second rule sends the answer and the stray bytes in two records.
    @Test(
        arguments: [false, true],
        [#""times":1"#, #""times":1,"raw":"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n""#])
    func answerBeforeTheRequestIsIgnored(isEncrypted: Bool, rule: String) async throws {
        let certificates = try Certificates()
        let server = try server(isEncrypted ? certificates : nil)
        let stray = (rule.contains("raw") ? "ok" : "") + #"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"#
        try await server.setRules(#"[{\#(rule),"stray":"\#(stray)"},{"status":503}]"#)
        var settings = try settings(server.address)
        settings.identity.certificateAuthoritiesPath = certificates.authority
        try await withSender(settings) { sender async throws in
            #expect(try await answer(sender).status == 200)
            try await server.configure(#"{"release":true}"#)
            while try await server.report().strays < 1 { try await Task.sleep(for: .milliseconds(5)) }
            let second: Answer
            do {
                second = try await answer(sender)
            } catch let error as SendError {
                // The request was not sent on the connection with the stray bytes.
                #expect(error.kind == .unsolicited && !error.mayHaveArrived)
                second = try await answer(sender)
            }
            #expect(second.status == 503)
            #expect(try await server.report().total == 2)
        }
    }

    @Test func successBeforeTheBodyWasSentIsIgnored() async throws {
        let server = try LoopbackServer()
        try await server.setRules(#"[{"early":"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}]"#)
        let request = try request(body: #"{"a":"\#(String(repeating: "x", count: 32 << 20))"}"#)
        try await withSender(settings(server.address)) { sender async throws in
            let error = await #expect(throws: SendError.self) { try await sender.send(request) }
            #expect(error?.mayHaveArrived == true)
            #expect(error?.description.hasSuffix("answered before it had received the whole request") == true)
        }
    }

    @Test func requestOnAReusedConnectionMayHaveArrived() async throws {
        let server = try LoopbackServer()
        try await withSender(settings(server.address)) { sender async throws in
            #expect(try await answer(sender).status == 200)
            try await server.setRules(#"[{"hold":true}]"#)
            let request = try request()
            let lost = Task { try await sender.send(request) }
            while try await server.report().total < 2 { try await Task.sleep(for: .milliseconds(5)) }
            server.stop()
            let failure = await #expect(throws: SendError.self) { try await lost.value }
            #expect(failure?.mayHaveArrived == true, "\(String(describing: failure))")
        }
    }
}
