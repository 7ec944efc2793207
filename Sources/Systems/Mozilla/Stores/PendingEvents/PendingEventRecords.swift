import JSONText
import Telemetry

/// The facts about a client that the newest stored ping of the same type tells.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedFields: Sendable {
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

    /// Collects the fields of a ping that pending events can borrow; nil if the ping names no client.
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
                id: UUIDText.ofPendingEvents(events, type: place.namedType, client: knownClient), client: knownClient,
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
}
