import CLibrary
import HTTP
import Telemetry

/// A sender of upload requests, which reuses connections.
///
/// The sender decides what counts as an answer and how long to wait for one. An `HTTPClient` transfers the bytes.
///
/// A class, because it owns connections. Call ``shutdown()`` before the last reference is released.
public final class Sender: Sendable {
    private let client: HTTPClient
    private let routes: [Server: Route]
    private let settings: SenderSettings
    private let now: @Sendable () -> Timestamp

    /// Creates a sender for requests to `servers`.
    ///
    /// Connections are opened when they are needed.
    public init(
        _ settings: SenderSettings, servers: some Sequence<Server>, now: @escaping @Sendable () -> Timestamp
    ) throws {
        var routes: [Server: Route] = [:]
        for server in servers {
            routes[server] = Route(endpoint: server.endpoint, proxy: settings.proxies.proxy(for: server.endpoint))
        }
        var http = HTTPSettings()
        http.identity = try settings.identity.read()
        http.connectTimeout = settings.connectTimeout
        http.connections = settings.connections * max(1, routes.count)
        http.responseFields = Exchange.keptFields
        do throws(HTTPError) {
            client = try HTTPClient(http)
        } catch {
            throw SendError(.notConnected, "cannot send anything: \(error)")
        }
        self.routes = routes
        self.settings = settings
        self.now = now
    }

    /// The executor for tasks that send requests.
    var executor: any TaskExecutor { client.executor }

    /// Cancels the requests under way and closes all connections.
    public func shutdown() async { await client.close() }

    /// Sends a request once, without retries.
    ///
    /// `server` must be one of the servers with which the sender was created.
    ///
    /// If the task is cancelled, the answer has 3 seconds to arrive. If its head was received, the request counts as
    /// answered, even if the body is incomplete.
    /// - Throws: ``SendError`` if there is no answer.
    func send(_ request: UploadRequest, to server: Server) async throws(SendError) -> Answer {
        guard let route = routes[server] else { throw SendError(.notConnected, "no endpoint") }
        let exchange = Exchange(
            totalLimit: .seconds(settings.exchangeTimeout), idleLimit: .seconds(settings.readTimeout))
        let end = await withTaskCancellationHandler {
            await client.send(request.http, over: route.http, for: exchange)
        } onCancel: {
            exchange.stop()
            client.deadlinesChanged()
        }
        if let (head, body, isWhole) = exchange.answer(end) {
            var answer = Answer(
                status: head.status,
                retryAfter: head.fields["retry-after"].flatMap { RetryAfter.seconds($0, now: now()) },
                location: head.fields["location"], body: body, isWhole: isWhole)
            answer.secrets = request.secrets
            return answer
        }
        switch end {
        case .failed(.proxyRefused(407)):
            // The answer of the proxy is unknown, so the body is the name of the proxy.
            return Answer(status: 407, body: Array((route.proxy?.description ?? "").utf8))
        case .failed(let failure): throw SendError(failure, on: route)
        case .late: throw SendError(.unanswered, timeoutMessage(exchange.expiry.cause, on: route))
        case .complete, .enough: throw SendError(.unanswered, "an answer without a status")
        }
    }

    private func timeoutMessage(_ cause: Exchange.TimeoutCause, on route: Route) -> String {
        switch cause {
        case .deadline: "no answer\(route.proxySuffix) within \(settings.exchangeTimeout) s (--exchange-timeout)"
        case .silence: "no answer\(route.proxySuffix) in time"
        case .stop: "the job was stopped before the answer arrived"
        }
    }
}

/// The settings for sending requests.
public struct SenderSettings: Sendable {
    /// The servers that receive uploads, by type.
    public var servers: ServerTable
    /// The rules that select a proxy.
    public var proxies = ProxyRules()
    /// The trusted certificate authorities and the client certificate.
    public var identity = TLSIdentity()
    /// The maximum number of connections to one endpoint.
    public var connections = 8
    /// The maximum time to establish a connection, in seconds.
    public var connectTimeout = 10
    /// The maximum time without data from the server, in seconds.
    public var readTimeout = 30
    /// The maximum time for a request and its complete answer, in seconds.
    public var exchangeTimeout = 120
    /// The value of the header `User-Agent`.
    public var agent: String

    /// Creates settings with the endpoints in `given`, and the documented endpoints of all other systems.
    public init(agent: String, endpoints given: [SystemName: Endpoint] = [:], systems: SystemTable) {
        self.agent = agent
        servers = ServerTable(given: given, of: systems)
    }
}

/// The reason why a request received no answer.
public struct SendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of the error.
    public let kind: SendErrorKind
    /// The message, which describes the cause of the error.
    public let description: String

    /// Creates an error with a message that describes its cause.
    public init(_ kind: SendErrorKind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether the server may have received the request.
    public var mayHaveArrived: Bool { kind == .disconnected || kind == .unanswered }
}

/// The kind of a ``SendError``, which determines whether the server may have received the request.
public enum SendErrorKind: Sendable, Equatable {
    /// No connection was established, so the server did not receive the request.
    case notConnected
    /// No trusted connection can be established, so another attempt would not help.
    case notTrusted
    /// The request was not sent, because the idle connection had received unexpected data or was closed.
    case unsolicited
    /// The connection was closed before an answer arrived, possibly because it had been idle.
    case disconnected
    /// No valid HTTP answer arrived in time, but the server may have received the request.
    case unanswered
}

extension SendError {
    /// Creates an error that describes `failure`, which occurred on `route`.
    init(_ failure: HTTPError, on route: Route) {
        switch failure {
        case .noAddress:
            self.init(
                .notConnected, "no address found for \(route.proxy.map { "the proxy \($0)" } ?? route.endpoint.host)")
        case .cannotConnect(let code):
            let reason = code == 0 ? "" : ": \(String(cString: strerror(code)))"
            self.init(.notConnected, "cannot connect to \(route.connectionTarget)\(reason)")
        case .connectionTimedOut(let isAtProxy):
            let suffix = isAtProxy ? route.proxySuffix : route.proxy.map { " to the proxy \($0)" } ?? ""
            self.init(.notConnected, "no connection\(suffix) in time")
        case .proxyRefused: self.init(.notConnected, "\(route.connectionTarget) refuses to connect to \(route.server)")
        case .wrongName: self.init(.notTrusted, "the server's certificate does not name this host")
        case .untrusted(let words):
            // Another authority is no remedy for a certificate that has expired, or that was revoked.
            let hint = words.contains("issuer") || words.contains("self") ? " (see --ca-file)" : ""
            self.init(.notTrusted, "no trusted connection: \(words)\(hint)")
        case .noHandshake(let words): self.init(.notTrusted, "no trusted connection: the handshake failed: \(words)")
        case .clientCertificateRejected:
            self.init(
                .notTrusted,
                "no trusted connection: the server requires another client certificate (see --client-cert)")
        case .closedInHandshake:
            self.init(.notConnected, "the connection\(route.proxySuffix) was closed before it was encrypted")
        case .unsolicited:
            self.init(
                .unsolicited,
                "the idle connection\(route.proxySuffix) had bytes that no request asked for, or was closed")
        case .early:
            self.init(
                .unanswered, "\(route.server) answered\(route.proxySuffix) before it had received the whole request")
        case .closed:
            // With a proxy, it is unknown whether the server or the proxy closed the connection.
            let words =
                route.proxy == nil
                ? "the server closed the connection without an answer"
                : "the connection\(route.proxySuffix) was closed without an answer"
            self.init(.disconnected, words)
        case .cut: self.init(.disconnected, "the connection\(route.proxySuffix) was cut")
        case .invalidResponse:
            self.init(
                .unanswered,
                "the answer of \(route.server)\(route.proxySuffix) is not HTTP: check the address and its scheme (http or https)"
            )
        case .ended: self.init(.unanswered, "the request was cancelled before the answer arrived")
        case .other(let words, let wasSent):
            self.init(wasSent ? .unanswered : .notConnected, "the connection\(route.proxySuffix) failed: \(words)")
        }
    }
}
