import HTTP

/// How a server is reached, also in words for messages.
struct Route: Sendable {
    let endpoint: Endpoint
    /// What connections are made through.
    let proxy: Proxy?
    /// The same for a client.
    let http: HTTPRoute

    init(endpoint: Endpoint, proxy: Proxy?) {
        self.endpoint = endpoint
        self.proxy = proxy
        let through = proxy.map { proxy in
            HTTPRoute.Proxy(
                address: HostName.hostAndPort(proxy.host, proxy.port),
                credential: proxy.user.map { HTTPRoute.Credential(user: $0, password: proxy.password ?? "") })
        }
        http = HTTPRoute(server: endpoint.address, proxy: through)
    }

    var server: String { "\(endpoint.host):\(endpoint.port)" }
    /// The machine that is connected to.
    var connectionTarget: String { proxy.map { "the proxy \($0)" } ?? server }
    /// What follows the word connection.
    var proxySuffix: String { proxy.map { " through the proxy \($0)" } ?? "" }
}
