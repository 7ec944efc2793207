import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Connections to one endpoint that AsyncHTTPClient keeps and uses again.
struct AsyncHTTPTransport: Transport {
    private let client: HTTPClient
    private let route: Route
    private let responseLimit: TimeAmount

    /// Mozilla's edge closes a connection that was idle for 2 seconds. One that has been so for nearly as long is not
    /// used again, because a request on it may cross with its end.
    ///
    /// Source: "Mozilla's HTTP edge server: behaviour measured on loopback".
    private static let idleLimit = TimeAmount.milliseconds(1500)

    /// Prepares to send; no connection is made yet.
    init(_ route: Route, _ settings: SenderSettings, tls: TLSConfiguration) {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: .seconds(Int64(settings.connectTimeout)), read: .seconds(Int64(settings.readTimeout))),
            connectionPool: .init(
                idleTimeout: Self.idleLimit, concurrentHTTP1ConnectionsPerHostSoftLimit: settings.connections))
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.proxy = route.proxy.map { proxy in
            let authorization = proxy.user.map { user in
                HTTPClient.Authorization.basic(username: user, password: proxy.password ?? "")
            }
            return .server(host: proxy.host, port: proxy.port, authorization: authorization)
        }
        client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
        self.route = route
        // The exchange ends first; this is for what the library keeps in line beside it.
        responseLimit = .seconds(Int64(settings.exchangeTimeout + 5))
    }

    func send(_ request: UploadRequest, _ exchange: Exchange) async throws(SendFailure) {
        var message = HTTPClientRequest(url: route.endpoint.description + request.path)
        message.method = HTTPMethod(rawValue: request.method)
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        message.body = .bytes(ByteBuffer(bytes: request.body))
        do {
            let response = try await client.execute(message, deadline: .now() + responseLimit)
            exchange.headCame(
                AnswerHead(
                    status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
                    location: response.headers.first(name: "Location")))
            for try await part in response.body where !exchange.bodyCame(part.readableBytesView) { return }
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
            // The library keeps what the proxy said to itself; its name stands there instead.
            exchange.headCame(AnswerHead(status: 407))
            _ = exchange.bodyCame((route.proxy?.description ?? "").utf8)
        } catch {
            throw SendFailure(error, on: route)
        }
    }

    func shutdown() async {
        // What does not close in good order ends with the process.
        try? await client.shutdown()
    }
}
