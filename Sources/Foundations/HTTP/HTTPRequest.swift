/// An HTTP request without the address of the server.
public struct HTTPRequest: Sendable, Equatable {
    /// The request method, such as `POST`.
    public var method: String
    /// The path and query of the request line, which are sent unchanged.
    public var target: String
    /// All header fields except `Host` and `Content-Length`.
    public var fields: [HTTPField]
    /// The body of the request.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, target: String, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// A header field of a request.
public struct HTTPField: Sendable, Equatable {
    /// The name of the field.
    public var name: String
    /// The value of the field.
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The server of a request, and the proxy through which the client connects, if any.
///
/// The credential for the proxy is never part of a description.
public struct HTTPRoute: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The scheme, host and port of the server, such as `https://example.org:443`.
    public var server: String
    /// The host and port of a proxy that forwards connections with the method CONNECT, separated by a colon.
    ///
    /// An IPv6 address is in brackets. If the value is `nil`, the connection is direct, regardless of environment
    /// variables.
    public var proxy: String?
    /// The user name for the proxy, or `nil` if the proxy requires no credential.
    public var proxyUser: String?
    /// The password for the proxy, or `nil` if the proxy requires no credential.
    public var proxyPassword: String?

    /// Creates a route.
    public init(server: String, proxy: String? = nil, proxyUser: String? = nil, proxyPassword: String? = nil) {
        self.server = server
        self.proxy = proxy
        self.proxyUser = proxyUser
        self.proxyPassword = proxyPassword
    }

    /// The addresses of the server and the proxy.
    public var description: String { server + (proxy.map { " through \($0)" } ?? "") }
    /// A mirror without children, so that reflection does not reveal the credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
