import Bytes
import JSONText
import Telemetry

/// The grammar of names: of pings, of documents, of the files that hold them.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and 8.1.
enum GleanName {
    /// The ping by which a client asks that its data be deleted.
    static let deletionRequest = "deletion-request"
    /// The same for the profile id of the usage pings, which has nothing to do with the client id.
    static let usageDeletionRequest = "usage-deletion-request"
    /// The built-in ping of events.
    static let events = "events"
    /// A client id that many installations share, for the SDK put it in the place of one that was given up.
    static let placeholderClient = "c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0"

    /// Whether the bytes are the name of a ping: `[a-z][a-z0-9_-]{0,29}`.
    static func isPing(_ name: Span<UInt8>) -> Bool {
        (1...30).contains(name.count) && name[0].isLowerLetter
            && name.hasOnly { $0.isLowerLetter || $0.isDigit || "-_".utf8.contains($0) }
    }

    /// The 32 digits, in lower case, of a UUID in any spelling that the SDK takes for one: with hyphens or without, in braces,
    /// or with `urn:uuid:` in front; nil for any other name [G14].
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

    /// Whether a client id is the one that many installations share.
    static func isPlaceholder(_ client: String) -> Bool { client.lowercased() == placeholderClient }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter of lower case.
    var isLowerLetter: Bool { (0x61...0x7A).contains(self) }

    /// Whether the byte is an ASCII letter of either case, a digit or a hyphen.
    var isWordOrHyphen: Bool { isDigit || self == UInt8(ascii: "-") || (self | 0x20).isLowerLetter }
}
