import Bytes
import JSONText
import Telemetry

/// The parts of an HTTP archive entry that are read.
///
/// Headers and bodies may contain credentials. Only the body of an upload and the header fields that its system needs
/// are exposed.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section B.
struct HTTPArchiveEntry {
    let method: String
    let url: String
    /// The start of the exchange, or `nil` if the archive does not state a valid time.
    let time: Timestamp?
    let status: Int
    /// Whether the response is from a cache, so that no request was sent.
    let isFromCache: Bool
    let postData: JSONNode?
    let headers: CapturedHeaders

    private enum Keys {
        static let fromCache: JSONKey = "_fromCache"
        static let headers: JSONKey = "headers"
        static let method: JSONKey = "method"
        static let postData: JSONKey = "postData"
        static let request: JSONKey = "request"
        static let response: JSONKey = "response"
        static let started: JSONKey = "startedDateTime"
        static let status: JSONKey = "status"
        static let url: JSONKey = "url"
    }

    /// The members of an entry that are read.
    ///
    /// Cookies and the contents of responses are excluded.
    static let outline: JSONOutline = [
        "_fromCache": .whole,
        "request": ["headers": .whole, "method": .whole, "postData": .whole, "url": .whole],
        "response": ["status": .whole],
        "startedDateTime": .whole,
    ]

    /// Creates the parts of an entry, or returns `nil` if the entry has no valid request.
    init?(_ document: JSONDocument) {
        let root = document.root
        guard let request = document.value(of: Keys.request, in: root),
            let method = document.text(Keys.method, in: request), let url = document.text(Keys.url, in: request)
        else { return nil }
        self.method = method
        self.url = url
        time = document.text(Keys.started, in: root).flatMap(Timestamp.init(started:))
        status = document.value(of: Keys.response, in: root).map { Self.status(of: $0, in: document) } ?? 0
        isFromCache = document.text(Keys.fromCache, in: root) != nil
        postData = document.value(of: Keys.postData, in: request)
        headers = CapturedHeaders(document.array(Keys.headers, in: request))
    }

    /// Returns the HTTP status of a response, stored as a number or a string, or 0 if there is no valid status.
    private static func status(of response: JSONNode, in document: JSONDocument) -> Int {
        guard let status = document.value(of: Keys.status, in: response) else { return 0 }
        return switch document.kind(of: status) {
        case .number, .string: Int(document.string(of: status)) ?? 0
        default: 0
        }
    }
}
