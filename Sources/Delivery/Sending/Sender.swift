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
    public func send(_ request: UploadRequest, to server: Server) async throws(SendError) -> Answer {
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
        case .late: throw SendError(.unanswered, timeoutMessage(exchange.timeoutCause, on: route))
        case .complete, .enough: throw SendError(.unanswered, "an answer without a status")
        }
    }

    private func timeoutMessage(_ cause: ExchangeTimeout.Cause, on route: Route) -> String {
        switch cause {
        case .deadline: "no answer\(route.proxySuffix) within \(settings.exchangeTimeout) s (--exchange-timeout)"
        case .silence: "no answer\(route.proxySuffix) in time"
        case .stop: "the job was stopped before the answer arrived"
        }
    }
}

extension UploadRequest {
    fileprivate var http: HTTPRequest {
        HTTPRequest(
            method: method, target: path, fields: headers.map { HTTPRequest.Field($0.name, $0.value) }, body: body)
    }
}
