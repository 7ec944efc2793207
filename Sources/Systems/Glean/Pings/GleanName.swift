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
            && name.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-_".utf8.contains($0) }
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
