/// A request to a server, without the server's address.
public struct HTTPRequest: Sendable, Equatable {
    /// A field of a header.
    public struct Field: Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The method.
    public var method: String
    /// Path and query as they stand in the request line: nothing of them is encoded or resolved.
    public var target: String
    /// The header, but for `Host` and `Content-Length`. No other field is sent.
    public var fields: [Field]
    /// The body.
    public var body: [UInt8]

    /// Makes a request.
    public init(method: String, target: String, fields: [Field] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// How a server is reached.
public struct HTTPRoute: Sendable, Hashable {
    /// A proxy that connections are made through, with the method CONNECT.
    public struct Proxy: Sendable, Hashable {
        /// Host and port, a colon between them; an IPv6 address in brackets.
        public var address: String
        /// The user whom the proxy knows, and the password.
        public var credential: Credential?

        /// Makes a proxy.
        public init(address: String, credential: Credential? = nil) {
            self.address = address
            self.credential = credential
        }
    }

    /// Who connects, as a proxy wants to know it.
    public struct Credential: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let user: String
        let password: String

        /// Takes a user and the password.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Nothing of it.
        public var description: String { "a credential" }
        /// Nothing to look into.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Scheme, host and port: `https://example.org:443`.
    public var server: String
    /// What connections are made through; nil for a direct one, whatever the environment says.
    public var proxy: Proxy?

    /// Makes a route.
    public init(server: String, proxy: Proxy? = nil) {
        self.server = server
        self.proxy = proxy
    }
}
