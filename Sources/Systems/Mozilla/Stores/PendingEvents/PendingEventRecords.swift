import Bytes
import Crypto
import JSONText
import Telemetry

/// What is known of a client from the newest stored ping of the same type.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedFields: Sendable {
    /// The client of the ping.
    let client: String
    /// When the ping was queued; of several pings the latest lends its fields.
    let time: Timestamp?
    let app: App?
    let pingID: String
    /// Keys in canonical order, with canonical values.
    let fields: [(key: JSONKey, value: [UInt8])]

    private static let borrowed: [JSONKey] = [
        "arch", "clientId", "device", "locale", "os", "osversion", "settings", "tz", "v",
    ]

    /// Takes from a ping what pending events can borrow; nil if it names no client.
    init?(_ ping: Record) {
        guard let client = ping.client, let document = try? JSONDocument(ping.payload) else { return nil }
        self.client = client
        time = ping.time
        app = ping.app
        pingID = ping.id
        fields = Self.borrowed.compactMap { key in
            document.value(of: key, in: document.root).map { (key, document.canonicalBytes(of: $0)) }
        }
    }
}

/// Makes records of events that are in no ping yet, so that analysis sees them. They are never uploaded: the phone may
/// still send them itself.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
enum PendingEventRecords {
    /// Makes a record of each run of at most 500 events.
    ///
    /// - Parameters:
    ///   - pending: the events, and what is to be noted on every record of them.
    ///   - borrowed: what the newest ping of the same type tells, if there is one.
    ///   - client: the client that the preferences beside the store name, or the file's own.
    ///   - isOwnClient: whether `client` stands in the file of the events itself, so that it is not borrowed.
    ///   - firstIndex: the number of the first record in its file.
    static func make(
        _ pending: PendingEvents, borrowed: BorrowedFields?, client: String?, isOwnClient: Bool, firstIndex: Int = 0,
        at place: MozillaPlace
    ) -> [Record] {
        let knownClient = isOwnClient ? client : borrowed?.client ?? client
        var notes = pending.notes
        if let note = note(borrowed: borrowed, client: client, isOwnClient: isOwnClient) { notes.append(note) }
        return stride(from: 0, to: pending.events.count, by: EventPing.mostEvents).enumerated().map { number, start in
            let end = min(start + EventPing.mostEvents, pending.events.count)
            let events = pending.events.array(start..<end)
            return Record(
                system: .mozilla, type: place.namedType,
                id: id(of: events, type: place.namedType, client: knownClient), client: knownClient,
                app: borrowed?.app ?? App(id: place.applicationID),
                payload: payload(events: events, borrowed: borrowed, client: knownClient),
                source: place.source(index: firstIndex + number),
                notes: notes, held: [.pendingEvents])
        }
    }

    private static func note(borrowed: BorrowedFields?, client: String?, isOwnClient: Bool) -> String? {
        if let borrowed {
            let names = borrowed.fields.map(\.key.description).joined(separator: ", ")
            return "PE borrowed from ping \(borrowed.pingID): \(names)"
        }
        return client == nil || isOwnClient ? nil : "PE borrowed from the preferences: clientId"
    }

    private static func payload(events: [UInt8], borrowed: BorrowedFields?, client: String?) -> [UInt8] {
        var object = CanonicalObject()
        for field in borrowed?.fields ?? [] { object.set(field.key, canonical: field.value) }
        if let client { object.set("clientId", string: client) }
        object.set("events", canonical: events)
        return object.bytes
    }

    /// A name-based UUID (RFC 4122, version 5) in the namespace of URLs, upper case.
    private static func id(of events: [UInt8], type: String, client: String?) -> String {
        let name = "pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))"
        var hash = Insecure.SHA1()
        hash.update(data: urlNamespace)
        hash.update(data: Array(name.utf8))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(bytes.hex.uppercased())
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// 6ba7b811-9dad-11d1-80b4-00c04fd430c8
    private static let urlNamespace: [UInt8] = [
        0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]
}
