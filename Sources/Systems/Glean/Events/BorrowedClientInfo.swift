import JSONText
import Telemetry

/// The client information that is added to pending events, copied from a stored ping or from `client_id.txt`.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct BorrowedClientInfo {
    /// The client id, or `nil` if the ping contains none.
    let client: String?
    let app: App?
    /// The `client_info` section as canonical JSON.
    let info: [UInt8]
    /// The ping or file that the information was copied from, as named in notes.
    let origin: String

    /// Copies the client information of `ping`, or returns `nil` if it has no `client_info` section.
    init?(_ ping: Record) {
        guard let document = try? JSONDocument(ping.payload),
            let info = document.value(of: GleanKeys.clientInfo, in: document.root)
        else { return nil }
        client = ping.client
        app = ping.app
        self.info = document.canonicalBytes(of: info)
        origin = "ping \(ping.id)"
    }

    /// Reads the client id from the contents of `client_id.txt`.
    ///
    /// Returns `nil` if the id is invalid or is the placeholder id.
    init?(clientFile bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(100), as: UTF8.self)
        let trimmed = text.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }
        guard let digits = GleanName.digits(ofUUID: String(trimmed).utf8.span) else { return nil }
        let id = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
        guard !GleanName.isPlaceholder(id) else { return nil }
        var object = CanonicalObject()
        object.set(GleanKeys.clientID, string: id)
        client = id
        app = nil
        info = object.bytes
        origin = "client_id.txt"
    }
}
