import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import Telemetry

/// Sends requests over connections that it keeps and uses again.
///
/// A class, because it owns connections: ``shutdown()`` has to be called before the last reference goes.
public final class Sender: Sendable {
    private let clients: [TelemetrySystem: (client: HTTPClient, route: Route)]
    private let settings: SenderSettings
    private let now: @Sendable () -> Timestamp

    /// Mozilla's edge closes a connection that was idle for 2 seconds. One that has been so for nearly as long is not
    /// used again, because a request on it may cross with its end.
    ///
    /// Source: "Mozilla's HTTP edge server: behaviour measured on loopback".
    private static let idleLimit = TimeAmount.milliseconds(1500)

    /// Prepares to send; no connection is made yet.
    /// - Parameters:
    ///   - systems: whose endpoints are needed.
    ///   - now: the clock that `Retry-After` dates are compared with.
    /// - Throws: ``CredentialError``.
    public init(
        _ settings: SenderSettings, systems: some Sequence<TelemetrySystem>, now: @escaping @Sendable () -> Timestamp
    ) throws(CredentialError) {
        let tls = try settings.identity.configuration()
        var clients: [TelemetrySystem: (client: HTTPClient, route: Route)] = [:]
        for system in Set(systems) {
            guard let endpoint = settings.endpoints[system] else { continue }
            var configuration = HTTPClient.Configuration(
                tlsConfiguration: tls, redirectConfiguration: .disallow,
                timeout: .init(
                    connect: .seconds(Int64(settings.connectTimeout)), read: .seconds(Int64(settings.readTimeout))),
                connectionPool: .init(
                    idleTimeout: Self.idleLimit, concurrentHTTP1ConnectionsPerHostSoftLimit: settings.connections))
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.httpVersion = .http1Only
            let route = Route(endpoint: endpoint, proxy: settings.proxies.proxy(for: endpoint))
            configuration.proxy = route.proxy.map { proxy in
                let authorization = proxy.user.map { user in
                    HTTPClient.Authorization.basic(username: user, password: proxy.password ?? "")
                }
                return .server(host: proxy.host, port: proxy.port, authorization: authorization)
            }
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
            clients[system] = (client, route)
        }
        self.clients = clients
        self.settings = settings
        self.now = now
    }

    /// Closes all connections.
    public func shutdown() async {
        for (client, _) in clients.values { try? await client.shutdown() }
    }

    /// Sends a request once.
    /// - Throws: ``SendFailure`` if there is no answer.
    public func send(_ request: UploadRequest, to system: TelemetrySystem) async throws(SendFailure) -> Answer {
        guard let (client, route) = clients[system] else { throw SendFailure(.notConnected, "no endpoint") }
        var message = HTTPClientRequest(url: route.endpoint.description + request.path)
        message.method = HTTPMethod(rawValue: request.method)
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        message.body = .bytes(ByteBuffer(bytes: request.body))
        do {
            let deadline = NIODeadline.now() + .seconds(Int64(settings.connectTimeout + 4 * settings.readTimeout))
            let response = try await client.execute(message, deadline: deadline)
            let answer = Answer(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "Retry-After").flatMap { RetryAfter.seconds($0, now: now()) },
                location: response.headers.first(name: "Location"), body: try await Self.start(of: response.body))
            return answer.masking(request.secrets)
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
            // The library keeps what the proxy said to itself; its name stands there instead.
            return Answer(status: 407, body: Array((route.proxy?.description ?? "").utf8))
        } catch {
            throw SendFailure(error, on: route)
        }
    }

    /// The start of a body. The rest is read too, so that the connection can be used again, unless it does not end.
    private static func start(of body: HTTPClientResponse.Body) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        var length = 0
        for try await part in body {
            length += part.readableBytes
            if bytes.count < Answer.bodyLimit {
                bytes.append(contentsOf: part.readableBytesView.prefix(Answer.bodyLimit - bytes.count))
            }
            if length > 16 * Answer.bodyLimit { break }
        }
        return bytes
    }
}
