import Bytes
import JSONText
import Telemetry

/// The grammar of ping names, document ids and file names.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and 8.1.
enum GleanName {
    /// The name of the ping that requests the deletion of a client's data.
    static let deletionRequest = "deletion-request"
    /// The name of the ping that requests the deletion of usage data that is not linked to a client id.
    static let usageDeletionRequest = "usage-deletion-request"
    /// The name of the ping with usage data that is not linked to a client id.
    static let usageReporting = "usage-reporting"
    /// The name of the built-in ping that contains events.
    static let events = "events"
    /// The client id that the SDK stores after it discards the client id of an installation.
    static let placeholderClient = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"

    /// Returns whether `name` is a valid ping name, `[a-z][a-z0-9_-]{0,29}`.
    static func isPingName(_ name: Span<UInt8>) -> Bool {
        (1...30).contains(name.count) && name[0].isLowercaseLetter
            && name.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0.isOne(of: "-_") }
    }

    /// Returns the 32 lowercase digits of a UUID, or `nil` if `name` is not a UUID.
    ///
    /// As in the SDK, hyphens are optional, and braces or the prefix `urn:uuid:` are allowed (case G14).
    static func digits(ofUUID name: Span<UInt8>) -> [UInt8]? {
        var text = name
        let urn = "urn:uuid:"
        if text.count == 36 + urn.utf8.count, text.extracting(..<urn.utf8.count).equals(urn) {
            text = text.extracting(urn.utf8.count...)
        } else if text.count == 38, text[0] == UInt8(ascii: "{"), text[37] == UInt8(ascii: "}") {
            text = text.extracting(1..<37)
        }
        guard text.count == 32 || text.isUUID else { return nil }
        var digits: [UInt8] = []
        digits.reserveCapacity(32)
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            guard text[index].hexadecimalValue != nil else { return nil }
            digits.append(text[index].lowercased)
        }
        return digits.count == 32 ? digits : nil
    }

    /// Returns whether `client` is the placeholder id, in any letter case.
    static func isPlaceholder(_ client: String) -> Bool { ClientID(client) == ClientID(placeholderClient) }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter, a digit or a hyphen.
    var isWordOrHyphen: Bool { isDigit || self == UInt8(ascii: "-") || isLetter }
}

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
        guard path.count <= Self.maximumLength, path.starts(with: Self.prefix.span) else { return nil }
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
