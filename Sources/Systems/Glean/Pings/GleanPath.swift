import Bytes
import JSONText
import Telemetry

/// An upload path of the form `/submit/<namespace>/<ping>/<version>/<document id>`, without a query.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.1.
struct GleanPath {
    /// The byte ranges of the namespace, the ping name and the document id in the path.
    ///
    /// The namespace is the id by which the server identifies the app.
    let namespace, ping, documentID: Range<Int>

    private static let prefix = Array("/submit/".utf8)
    private static let maximumLength = 1024
    /// The namespace of telemetry-ios pings, which are sent to the same server.
    private static let telemetryNamespace = "telemetry"

    /// Parses `path`, or returns `nil` if it does not match the grammar.
    init?(_ path: Span<UInt8>) {
        guard path.count <= Self.maximumLength, path.count > Self.prefix.count,
            path.extracting(..<Self.prefix.count).equals(Self.prefix.span)
        else { return nil }
        var parts: [Range<Int>] = []
        var start = Self.prefix.count
        for index in start..<path.count where path[index] == UInt8(ascii: "/") {
            parts.append(start..<index)
            start = index + 1
        }
        parts.append(start..<path.count)
        guard parts.count == 4, Self.isNamespace(path.extracting(parts[0])),
            GleanName.isPingName(path.extracting(parts[1])), Self.isVersion(path.extracting(parts[2])),
            path.extracting(parts[3]).isUUID
        else { return nil }
        (namespace, ping, documentID) = (parts[0], parts[1], parts[3])
    }

    /// Returns whether `text` matches `[A-Za-z0-9-]{1,100}` and is not the namespace of telemetry-ios.
    private static func isNamespace(_ text: Span<UInt8>) -> Bool {
        (1...100).contains(text.count) && !text.equals(telemetryNamespace) && text.allSatisfy(\.isWordOrHyphen)
    }

    /// Returns whether `text` matches `[1-9][0-9]{0,2}`.
    private static func isVersion(_ text: Span<UInt8>) -> Bool {
        (1...3).contains(text.count) && text[0] != UInt8(ascii: "0") && text.allSatisfy(\.isDigit)
    }
}
