import Bytes

/// An HTTP request without the address of the server.
public struct HTTPRequest: Sendable, Equatable {
    /// The request method, such as `POST`.
    public var method: String
    /// The path and query of the request line, which are sent unchanged.
    public var target: String
    /// All header fields except `Host` and `Content-Length`.
    public var fields: [HeaderField]
    /// The body of the request.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, target: String, fields: [HeaderField] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
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

/// The head of a response.
public struct HTTPResponseHead: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// The first value of each field in ``HTTPSettings/responseFields`` that the response contains, by lowercase name.
    public var fields: [CapturedText: String]

    /// Creates a head.
    public init(status: Int, fields: [CapturedText: String] = [:]) {
        self.status = status
        self.fields = fields
    }
}

/// An object that processes a response as it arrives and determines the deadline for the rest of the response.
///
/// The methods are called on the thread of the client and must return quickly. The protocol requires a class, because
/// the client and the sender of the request share the object.
public protocol HTTPReceiver: AnyObject, Sendable {
    /// Called when the client starts to send the request.
    ///
    /// Before this call, the server cannot have received any part of the request. If the deadline passes while a long
    /// body is still being sent, the method is called again, and may extend the deadline.
    func didStartSending(at instant: ContinuousClock.Instant)

    /// Called at most once, when the head of the response has arrived.
    func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant)

    /// Called when a part of the response body has arrived, and returns whether to continue.
    ///
    /// If the method returns `false`, the connection is closed. The bytes are valid only during the call.
    func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool

    /// The current deadline for the response.
    ///
    /// If the deadline becomes earlier outside of the methods of this protocol, call `HTTPClient.deadlinesChanged()`.
    var end: ContinuousClock.Instant { get }
}

/// The reason why a request ended.
public enum HTTPOutcome: Sendable, Equatable {
    /// The complete response arrived.
    case complete
    /// The receiver stopped the response.
    case enough
    /// The deadline of the receiver passed.
    case late
    /// An error occurred.
    case failed(HTTPError)
}

/// An incremental parser for the head of a response.
struct ResponseHeadParser {
    /// The result of parsing one line.
    enum Step: Equatable {
        /// The head is incomplete, or the line is not part of the head.
        case needsMoreLines
        /// The head is complete.
        case complete(HTTPResponseHead)
        /// The lines exceed the size limit.
        case tooLong
    }

    private let fieldNames: [String]
    private var head: HTTPResponseHead?
    private var isComplete = false
    private var totalLength = 0

    /// The maximum total size of all lines, in bytes, including the lines of interim responses and trailers.
    private static let maximumTotalLength = 80 << 10

    /// Creates a parser that keeps only the fields with these lowercase names.
    init(keeping names: [String]) { fieldNames = names }

    /// Prepares the parser for the next response.
    mutating func reset() {
        head = nil
        isComplete = false
        totalLength = 0
    }

    /// Parses `line`, which includes its line break.
    ///
    /// `status` is called only for a status line and returns the status code.
    mutating func parse(_ line: [UInt8], status: () -> Int) -> Step {
        totalLength += line.count
        guard totalLength <= Self.maximumTotalLength else { return .tooLong }
        // Trailers are ignored.
        guard !isComplete else { return .needsMoreLines }
        guard let current = head else {
            head = HTTPResponseHead(status: status())
            return .needsMoreLines
        }
        let isInterim = current.status < 200 && current.status != 101
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") {
            head = isInterim ? nil : current
            isComplete = !isInterim
            return isInterim ? .needsMoreLines : .complete(current)
        }
        if !isInterim { parse(field: line) }
        return .needsMoreLines
    }

    private mutating func parse(field line: [UInt8]) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let written = line[..<colon]
        guard let name = fieldNames.first(where: { written.span.equalsIgnoringCase($0) }) else { return }
        guard head?.fields[name] == nil else { return }
        let value = line[(colon + 1)...].drop(while: Self.isBlank)
        let end = value.lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        head?.fields[name] = String(decoding: value[..<end], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
