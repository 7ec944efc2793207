import Bytes
import Essentials
import HTTP

/// A monitoring service that raises an alarm if a job fails or does not run.
///
/// The service receives a request at the start of a job and another one at the end. The addresses follow the convention
/// of Healthchecks and similar services.
///
/// Source: Healthchecks, "Pinging API", sections "Send a 'start' signal" and "Report script's exit status".
public struct MonitoringService: Sendable {
    private let address: MonitoringAddress
    private let route: Route
    private let agent: String
    private let identity: TLSIdentity

    /// The maximum size of the text that the service receives, in bytes.
    static let maximumTextSize = 10_000
    /// The maximum time to establish a connection or to wait for data, in seconds.
    private static let idleLimit = 5
    /// The maximum time for a request, including its repetition, in seconds.
    public static let totalLimit = 10

    /// Creates a monitoring service that receives its messages at `address`.
    ///
    /// No client certificate is used, because it is for the servers that receive uploads.
    ///
    /// - Parameters:
    ///   - address: The address of the check.
    ///   - agent: The value of the header `User-Agent`.
    ///   - proxies: The rules that select a proxy.
    ///   - authoritiesPath: The path of a file with certificate authorities, or `nil` to trust those of the system.
    public init(
        at address: MonitoringAddress, agent: String, proxies: ProxyRules = ProxyRules(),
        authoritiesPath: String? = nil
    ) {
        self.address = address
        self.agent = agent
        route = Route(endpoint: address.endpoint, proxy: proxies.proxy(for: address.endpoint))
        var identity = TLSIdentity()
        identity.certificateAuthoritiesPath = authoritiesPath
        self.identity = identity
    }

    /// Reports that a job starts.
    public func reportStart() async throws(MonitoringError) {
        try await post([], to: "start", as: "start signal")
    }

    /// Reports that a job ends.
    ///
    /// - Parameters:
    ///   - status: The exit status.
    ///   - text: The text for the operator. At most its first 10,000 bytes are sent.
    /// - Throws: ``MonitoringError`` if the service does not accept the message.
    public func reportEnd(status: Int32, text: String) async throws(MonitoringError) {
        try await post(Self.body(text), to: "\(status)", as: "exit status")
    }

    /// Returns the beginning of `text` with at most ``maximumTextSize`` bytes, without splitting a character.
    ///
    /// Unprintable characters are escaped as on a terminal.
    static func body(_ text: String) -> [UInt8] {
        let bytes = Array(text.printableLines.utf8)
        var count = min(bytes.count, maximumTextSize)
        while count > 0, count < bytes.count, bytes[count] & 0xC0 == 0x80 { count -= 1 }
        return Array(bytes.prefix(count))
    }

    // MARK: Requests

    /// Sends a request, and repeats it once if the failure may be temporary.
    private func post(_ body: [UInt8], to name: String, as message: String) async throws(MonitoringError) {
        let start = ContinuousClock.now
        let client: HTTPClient
        do {
            client = try makeClient()
        } catch {
            throw failure("\(error)", of: message)
        }
        var fields = [HeaderField("User-Agent", agent)]
        if !body.isEmpty { fields.append(HeaderField("Content-Type", "text/plain; charset=utf-8")) }
        let request = HTTPRequest(method: "POST", target: "\(address.path)/\(name)", fields: fields, body: body)
        var error = await send(request, with: client, from: start)
        if error?.isTemporary == true {
            try? await Task.sleep(for: .seconds(1))
            error = await send(request, with: client, from: start)
        }
        await client.close()
        if let error { throw failure(error.reason, of: message) }
    }

    private func makeClient() throws -> HTTPClient {
        var settings = HTTPSettings()
        settings.identity = try identity.read()
        settings.connectTimeout = Self.idleLimit
        settings.connections = 1
        return try HTTPClient(settings)
    }

    private func failure(_ reason: String, of message: String) -> MonitoringError {
        MonitoringError(description: "the monitoring service did not accept the \(message): \(address): \(reason)")
    }

    /// Sends `request` once, and returns the reason if it was not accepted.
    ///
    /// The reason contains no text from the answer, because an answer can contain the secret address.
    private func send(
        _ request: HTTPRequest, with client: HTTPClient, from start: ContinuousClock.Instant
    ) async -> (reason: String, isTemporary: Bool)? {
        let exchange = Exchange(
            totalLimit: .seconds(Self.totalLimit), idleLimit: .seconds(Self.idleLimit), from: start)
        let end = await client.send(request, over: route.http, for: exchange)
        if let status = exchange.answer(end)?.head.status {
            if (200..<300).contains(status) { return nil }
            return ("status \(status)", isTemporary: status == 429 || status >= 500)
        }
        switch end {
        case .failed(let error):
            let error = SendError(error, on: route)
            return (error.description, isTemporary: error.kind != .notTrusted)
        case .late, .complete, .enough: return ("no answer\(route.proxySuffix) in time", isTemporary: true)
        }
    }
}

/// The error for a message that a monitoring service did not accept.
public struct MonitoringError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A one-line message without the path of the address.
    public let description: String
}

/// The address of a check in a monitoring service, such as `https://hc-ping.com/<uuid>`.
///
/// The path is a secret, because everyone who knows it can report jobs.
public struct MonitoringAddress: Sendable, Equatable {
    /// The server of the service.
    let endpoint: Endpoint
    /// The percent-encoded path, without a slash at the end.
    let path: String

    /// The form of an address, for messages.
    public static let form = "an address such as https://example.org/path, without a user, query or fragment"

    /// Parses an `http` or `https` address, or returns `nil` for anything else.
    public init?(_ text: String) {
        guard text.isValidCredential, var parts = URLComponents(string: text), parts.percentEncodedQuery == nil,
            parts.percentEncodedFragment == nil
        else { return nil }
        let path = parts.percentEncodedPath
        parts.percentEncodedPath = ""
        guard let endpoint = parts.string.flatMap(Endpoint.init) else { return nil }
        self.endpoint = endpoint
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Reads the address from a file that only its owner can access and that contains nothing else.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - protectedFolder: A folder that only its owner can access. The permissions of its files are not checked.
    /// - Throws: ``CredentialError`` if the file cannot be read, or does not contain exactly one address.
    public init(file: String, protectedFolder: String? = nil) throws(CredentialError) {
        let bytes = try OperatorFile.secret(in: file, protectedFolder: protectedFolder)
        let lines = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        guard lines.count == 1, let address = Self(String(decoding: lines[0], as: UTF8.self)) else {
            throw .malformed(file, "the file must contain \(Self.form)")
        }
        self = address
    }
}

extension MonitoringAddress: CustomStringConvertible, CustomReflectable {
    /// The scheme, host and port, so that the path is not printed.
    public var description: String { "\(endpoint)/…" }

    /// An empty mirror, so that `dump` does not print the path.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
