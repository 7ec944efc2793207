import Bytes
import JSONText

/// The position of the entries in an HTTP archive, and the form of the entries.
///
/// Sources: "HTTP Archive (HAR) captures as a source of telemetry", section A, and the JSON sessions that Charles exports.
enum HTTPArchiveLayout {
    /// The entries are in the object `log`, as HAR 1.2 requires.
    case standard
    /// The archive consists of the contents of `log`, as the function `getHAR` of browsers returns them.
    case unwrapped
    /// The archive is an array of exchanges with the keys of Charles.
    case charles

    /// Detects the layout by the first bytes of a file, or returns `nil` if the file is no HTTP archive.
    init?(_ head: [UInt8]) {
        var text = HeadOfJSON(head.blankingByteOrderMark[...])
        if text.consume("[") {
            guard text.consume("{"),
                ["protocolVersion", "scheme", "host"].allSatisfy({ head.contains(text: "\"\($0)\"") })
            else { return nil }
            self = .charles
            return
        }
        guard text.consume("{"), var key = text.key() else { return nil }
        // Members of other programs may precede `log`.
        let isWrapped = key == "log" || head.contains(text: "\"log\":") || head.contains(text: "\"log\" :")
        if key == "log" {
            guard text.consume("{"), let inner = text.key() else { return nil }
            key = inner
        }
        let keys = ["version", "creator", "browser", "pages", "entries", "comment"]
        guard keys.contains(key) else { return nil }
        // Without `log`, the first key is not distinctive.
        let isArchive = isWrapped || head.contains(text: "\"creator\"") && head.contains(text: "\"entries\"")
        guard isArchive else { return nil }
        self = isWrapped ? .standard : .unwrapped
    }

    /// The keys that lead to the entries.
    var path: [JSONKey] {
        switch self {
        case .standard: ["log", "entries"]
        case .unwrapped: ["entries"]
        case .charles: []
        }
    }

    /// The keys next to the entries that are read.
    var neighbors: [JSONKey] { self == .charles ? [] : [HTTPArchiveReader.version] }

    /// The members of an entry that are read.
    var outline: JSONOutline { self == .charles ? CharlesSession.outline : HTTPArchiveEntry.outline }
}

/// A scanner for the first tokens of a JSON text.
private struct HeadOfJSON {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) { rest = text }

    /// Advances past white space and `token`, or returns `false` if something else follows.
    mutating func consume(_ token: Unicode.Scalar) -> Bool {
        rest = rest.drop(while: \.isBlank)
        guard rest.first == UInt8(ascii: token) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Advances past a key without escapes and the colon after it, and returns the key.
    mutating func key() -> String? {
        guard consume("\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        let key = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        return consume(":") ? key : nil
    }
}

// MARK: - Charles

/// The JSON sessions that Charles exports, whose exchanges are converted to entries of an HTTP archive.
enum CharlesSession {
    private enum Keys {
        static let body: JSONKey = "body"
        static let encoded: JSONKey = "encoded"
        static let encoding: JSONKey = "encoding"
        static let header: JSONKey = "header"
        static let headers: JSONKey = "headers"
        static let host: JSONKey = "host"
        static let method: JSONKey = "method"
        static let path: JSONKey = "path"
        static let port: JSONKey = "port"
        static let query: JSONKey = "query"
        static let request: JSONKey = "request"
        static let response: JSONKey = "response"
        static let scheme: JSONKey = "scheme"
        static let start: JSONKey = "start"
        static let status: JSONKey = "status"
        static let text: JSONKey = "text"
        static let times: JSONKey = "times"
    }

    /// The members of an exchange that are read.
    static let outline: JSONOutline = [
        "host": .whole, "method": .whole, "path": .whole, "port": .whole, "query": .whole,
        "request": ["body": .whole, "header": ["headers": .whole]], "response": ["status": .whole], "scheme": .whole,
        "times": ["start": .whole],
    ]

    /// Returns the entry for an exchange, or `nil` if `text` is not an exchange.
    static func entry(ofExchange text: [UInt8]) -> [UInt8]? {
        guard let document = try? JSONDocument(text, policy: HTTPArchiveReader.policy) else { return nil }
        let root = document.root
        guard let method = document.text(Keys.method, in: root), let host = document.text(Keys.host, in: root) else {
            return nil
        }
        // The request for a tunnel has no path.
        let path = document.text(Keys.path, in: root) ?? "/"
        let scheme = document.text(Keys.scheme, in: root) ?? "https"
        let port = document.value(of: Keys.port, in: root).map { document.string(of: $0) } ?? ""
        let isUsualPort = Int(port).map { [443, 80].contains($0) || $0 <= 0 } ?? true
        let query = document.text(Keys.query, in: root).map { "?\($0)" } ?? ""
        var request: CanonicalObject = [
            "method": method, "url": "\(scheme)://\(host)\(isUsualPort ? "" : ":\(port)")\(path)\(query)",
        ]
        if let stored = document.value(of: Keys.request, in: root) {
            if let header = document.value(of: Keys.header, in: stored),
                let headers = document.array(Keys.headers, in: header)
            {
                request.set("headers", CanonicalText(document.canonicalBytes(of: headers)))
            }
            if let body = document.value(of: Keys.body, in: stored) {
                request.set("postData", postData(of: body, in: document))
            }
        }
        var entry: CanonicalObject = ["request": request]
        let members: [(JSONKey, JSONNode?)] = [
            ("response", document.value(of: Keys.response, in: root)),
            (
                "startedDateTime",
                document.value(of: Keys.times, in: root).flatMap { document.value(of: Keys.start, in: $0) }
            ),
        ]
        for case (let key, let value?) in members { entry.set(key, CanonicalText(document.canonicalBytes(of: value))) }
        return entry.bytes
    }

    private static func postData(of body: JSONNode, in document: JSONDocument) -> CanonicalObject {
        let encoded = document.value(of: Keys.encoded, in: body)
        guard let text = encoded ?? document.value(of: Keys.text, in: body) else { return [:] }
        var data: CanonicalObject = ["text": CanonicalText(document.canonicalBytes(of: text))]
        if encoded != nil {
            data.set("encoding", document.text(Keys.encoding, in: body) ?? "base64")
        }
        return data
    }
}
