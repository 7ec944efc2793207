/// An HTTP request without the address of the server.
public struct HTTPRequest: Sendable, Equatable {
    /// A header field.
    public struct Field: Sendable, Equatable {
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

    /// The request method, such as `POST`.
    public var method: String
    /// The path and query of the request line, which are sent unchanged.
    public var target: String
    /// All header fields except `Host` and `Content-Length`.
    public var fields: [Field]
    /// The body of the request.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, target: String, fields: [Field] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// The server of a request, and the proxy through which the client connects, if any.
public struct HTTPRoute: Sendable, Hashable {
    /// A proxy that forwards connections with the method CONNECT.
    public struct Proxy: Sendable, Hashable {
        /// The host and port of the proxy, separated by a colon.
        ///
        /// An IPv6 address is in brackets.
        public var address: String
        /// The credential for the proxy, or `nil` if the proxy requires none.
        public var credential: Credential?

        /// Creates a proxy.
        public init(address: String, credential: Credential? = nil) {
            self.address = address
            self.credential = credential
        }
    }

    /// The user name and password for a proxy.
    ///
    /// The user name and the password are never part of a description.
    public struct Credential: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let user: String
        let password: String

        /// Creates a credential.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// A constant text that does not reveal the credential.
        public var description: String { "a credential" }
        /// A mirror without children, so that reflection does not reveal the credential.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The scheme, host and port of the server, such as `https://example.org:443`.
    public var server: String
    /// The proxy, or `nil` for a direct connection regardless of environment variables.
    public var proxy: Proxy?

    /// Creates a route.
    public init(server: String, proxy: Proxy? = nil) {
        self.server = server
        self.proxy = proxy
    }
}
