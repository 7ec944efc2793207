import HTTP

/// The route to a server, directly or through a proxy, with descriptions for messages.
struct Route: Sendable {
    let endpoint: Endpoint
    /// The proxy of the connection, or `nil` for a direct connection.
    let proxy: Proxy?
    /// The route in the form that the HTTP client needs.
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
    /// The description of the server or proxy to which the connection is made.
    var connectionTarget: String { proxy.map { "the proxy \($0)" } ?? server }
    /// A suffix for messages about the connection, which is empty for a direct connection.
    var proxySuffix: String { proxy.map { " through the proxy \($0)" } ?? "" }
}
