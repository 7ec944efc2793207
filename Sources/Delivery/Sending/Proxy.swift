import FoundationEssentials

/// A proxy that connections are made through, with the method CONNECT.
public struct Proxy: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The host name or address.
    public let host: String
    /// The port.
    public let port: Int
    /// The user whom the proxy knows.
    let user: String?
    /// The user's password.
    let password: String?

    /// Whether the proxy wants to know who connects.
    public var hasCredential: Bool { user != nil }
    /// Host and port; never the credential.
    public var description: String { "\(host):\(port)" }
    /// Nothing to look into.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Reads `[http://][user:password@]host[:port]`; nil if it is none. A proxy that wants an encrypted connection to
    /// itself is not supported.
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

    /// Whether a part was decoded: of what is encoded and no UTF-8, nothing is left.
    private static func isDecoded(_ text: String?, from part: String?) -> Bool {
        (text ?? "").isEmpty == (part ?? "").isEmpty
    }
}

/// Which proxy the environment asks for, as curl and others read it.
public struct ProxyRules: Sendable {
    private var plain: Proxy?
    private var encrypted: Proxy?
    private var exceptions: [Substring] = []

    /// No proxy at all.
    public init() {}

    /// The given proxy for all endpoints.
    public init(always proxy: Proxy) {
        plain = proxy
        encrypted = proxy
    }

    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; of a name in both cases, the lower one counts.
    /// - Throws: ``ProxyError`` if a variable names no proxy that can be used.
    public init(environment: [String: String]) throws(ProxyError) {
        let all = try Self.proxy("all_proxy", in: environment)
        plain = try Self.proxy("http_proxy", in: environment) ?? all
        encrypted = try Self.proxy("https_proxy", in: environment) ?? all
        let list = Self.value("no_proxy", in: environment)?.value ?? ""
        exceptions = list.lowercased().split { $0 == "," || $0 == " " }
    }

    /// The proxy for an endpoint; nil if it is to be reached directly.
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
        for name in [name, name.uppercased()] {
            if let value = environment[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }
}

/// A variable of the environment that names no proxy.
public struct ProxyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The variable.
    public let variable: String

    /// One line, without the value, which can hold a password.
    public var description: String { "\(variable) is not a proxy of the form http://[user:password@]host[:port]" }
}
