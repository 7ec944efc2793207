import Essentials
import HTTP

/// An HTTP proxy that opens connections with the method CONNECT.
public struct Proxy: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The host name or address.
    public let host: String
    /// The port of the proxy.
    public let port: Int
    /// The user name, or `nil` if the proxy needs no credential.
    let user: String?
    /// The password, or `nil` if the address of the proxy contains none.
    let password: String?

    /// Whether the proxy needs a credential.
    public var hasCredential: Bool { user != nil }
    /// The host and port, without the credential.
    public var description: String { "\(host):\(port)" }
    /// An empty mirror, so that `dump` does not print the password.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Parses `[http://][user:password@]host[:port]`, or returns `nil` for anything else.
    public init?(_ text: String) {
        let address = text.contains("://") ? text : "http://\(text)"
        guard let parts = URLComponents(string: address), parts.scheme?.lowercased() == "http",
            let host = HostName.asciiHost(parts), parts.hasOnlyHostAndPort,
            Self.isDecoded(parts.user, from: parts.percentEncodedUser),
            Self.isDecoded(parts.password, from: parts.percentEncodedPassword)
        else { return nil }
        self.host = host
        port = parts.port ?? 80
        guard (1...65535).contains(port) else { return nil }
        user = parts.user
        password = parts.password
    }

    /// Returns whether `text` contains the decoded form of `part`.
    ///
    /// If `part` is not valid UTF-8 after decoding, `text` is `nil` or empty.
    private static func isDecoded(_ text: String?, from part: String?) -> Bool {
        (text ?? "").isEmpty == (part ?? "").isEmpty
    }
}

/// The proxies for plain and encrypted connections, and the hosts that are connected directly.
///
/// The environment variables that define the rules are the same as in curl. `HTTP_PROXY` is also accepted.
public struct ProxyRules: Sendable {
    private var plain: Proxy?
    private var encrypted: Proxy?
    private var exceptions: [Substring] = []

    /// Creates rules without a proxy.
    public init() {}

    /// Creates rules that use `proxy` for all endpoints.
    public init(always proxy: Proxy) {
        plain = proxy
        encrypted = proxy
    }

    /// Creates rules from the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in `environment`.
    ///
    /// If the variable with a lowercase name is missing or empty, the variable with the uppercase name is used.
    public init(environment: [String: String]) throws(ProxyError) {
        let all = try Self.proxy("all_proxy", in: environment)
        plain = try Self.proxy("http_proxy", in: environment) ?? all
        encrypted = try Self.proxy("https_proxy", in: environment) ?? all
        let list = Self.value("no_proxy", in: environment)?.value ?? ""
        exceptions = list.lowercased().split { $0 == "," || $0 == " " }
    }

    /// Returns the proxy for an endpoint, or `nil` for a direct connection.
    public func proxy(for endpoint: Endpoint) -> Proxy? {
        let host = endpoint.host.lowercased()
        let isException = exceptions.contains { exception in
            if exception == "*" || exception == "\(host):\(endpoint.port)" { return true }
            let name = exception.drop { $0 == "*" }.drop { $0 == "." }
            return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
        }
        if isException { return nil }
        return endpoint.isEncrypted ? encrypted : plain
    }

    private static func proxy(_ name: String, in environment: [String: String]) throws(ProxyError) -> Proxy? {
        guard let (name, value) = value(name, in: environment) else { return nil }
        guard let proxy = Proxy(value) else { throw ProxyError(variable: name) }
        return proxy
    }

    private static func value(_ name: String, in environment: [String: String]) -> (name: String, value: String)? {
        [name, name.uppercased()].map { (name: $0, value: environment[$0] ?? "") }.first { !$0.value.isEmpty }
    }
}

/// The error for an environment variable whose value is not a supported proxy.
public struct ProxyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the variable.
    public let variable: String

    /// A message without the value, because the value may contain a password.
    public var description: String { "\(variable) is not a proxy of the form http://[user:password@]host[:port]" }
}

/// The route to a server, directly or through a proxy, with descriptions for messages.
struct Route: Sendable {
    let endpoint: Endpoint
    /// The proxy of the connection, or `nil` for a direct connection.
    let proxy: Proxy?

    /// The route in the form that the HTTP client needs.
    var http: HTTPRoute {
        HTTPRoute(
            server: endpoint.address, proxy: proxy.map { HostName.hostAndPort($0.host, $0.port) },
            proxyUser: proxy?.user, proxyPassword: proxy?.user == nil ? nil : proxy?.password ?? "")
    }

    var server: String { "\(endpoint.host):\(endpoint.port)" }
    /// The description of the server or proxy to which the connection is made.
    var connectionTarget: String { proxy.map { "the proxy \($0)" } ?? server }
    /// A suffix for messages about the connection, which is empty for a direct connection.
    var proxySuffix: String { proxy.map { " through the proxy \($0)" } ?? "" }
}
