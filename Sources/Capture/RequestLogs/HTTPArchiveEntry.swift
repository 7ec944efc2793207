import Bytes
import JSONText
import Telemetry

/// The parts of an entry of an HTTP archive that are ever looked at.
///
/// Headers and body can hold credentials: nothing of them leaves this type but the body of an upload and the header fields
/// that its system asks for.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section B.
struct HTTPArchiveEntry {
    let method: String
    let url: String
    /// When the exchange began; nil where the archive tells no instant.
    let time: Timestamp?
    /// The status of the answer; 0 if none was seen.
    let status: Int
    /// Whether a cache answered, and the network saw nothing.
    let isFromCache: Bool
    /// The body as the archive has it; nil if it has none.
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

    /// What is wanted of an entry: not its cookies, not the answer's contents.
    static let outline: JSONOutline = [
        "_fromCache": .whole,
        "request": ["headers": .whole, "method": .whole, "postData": .whole, "url": .whole],
        "response": ["status": .whole],
        "startedDateTime": .whole,
    ]

    /// Takes the parts of the entry that a document holds; nil if it is no request.
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

    /// A number, or text in archives that were edited by hand.
    private static func status(of response: JSONNode, in document: JSONDocument) -> Int {
        guard let status = document.value(of: Keys.status, in: response) else { return 0 }
        return switch document.kind(of: status) {
        case .number, .string: Int(document.string(of: status)) ?? 0
        default: 0
        }
    }
}

extension Span<UInt8> {
    /// Whether the bytes are an ASCII text in small letters, in whatever letter case.
    func equalsIgnoringCase(_ text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index].lowercased != other[index] { return false }
        return true
    }
}
