import JSONText
import Telemetry

/// What is known of the client of events that are in no ping yet.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct BorrowedInfo {
    /// The client; nil where the lending ping names none.
    let client: String?
    let app: App?
    /// The section `client_info`, canonical.
    let info: [UInt8]
    let origin: String

    /// Borrows from a ping; nil if it has no such section.
    init?(_ ping: Record) {
        guard let document = try? JSONDocument(ping.payload),
            let info = document.value(of: GleanKeys.clientInfo, in: document.root)
        else { return nil }
        client = ping.client
        app = ping.app
        self.info = document.canonicalBytes(of: info)
        origin = "ping \(ping.id)"
    }

    /// Borrows the client id in the file `client_id.txt`; nil if there is none in it, or the one of many installations.
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
