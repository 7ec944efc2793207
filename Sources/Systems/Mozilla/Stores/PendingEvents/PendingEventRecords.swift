import JSONText
import Telemetry

/// The fields of a stored ping that also apply to the pending events of the same type.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedFields: Sendable {
    let client: String
    /// The time at which the ping was queued, or `nil` if it is unknown.
    let time: Timestamp?
    let app: App?
    let pingID: String
    /// The fields in canonical order, with their values as canonical JSON.
    let fields: [(key: JSONKey, value: [UInt8])]

    private static let borrowedKeys: [JSONKey] = [
        "arch", "clientId", "device", "locale", "os", "osversion", "settings", "tz", "v",
    ]

    /// Copies the fields of `ping`, or returns `nil` if it contains no client id.
    init?(_ ping: Record) {
        guard let client = ping.client, let document = try? JSONDocument(ping.payload) else { return nil }
        self.client = client
        time = ping.time
        app = ping.app
        pingID = ping.id
        fields = Self.borrowedKeys.compactMap { key in
            document.value(of: key, in: document.root).map { (key, document.canonicalBytes(of: $0)) }
        }
    }
}

/// The functions that create records of events that are not yet included in a ping, so that the events are available
/// for analysis.
///
/// The records are never uploaded, because the app may still send the events itself.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
enum PendingEventRecords {
    /// Creates held records of the events in `pending`, with at most 500 events each.
    ///
    /// If `isClientInFile` is `true`, `client` is the client id of the records. If not, the client id of `borrowed`
    /// takes precedence over `client`.
    static func makeRecords(
        of pending: PendingEvents, borrowed: BorrowedFields?, client: String?, isClientInFile: Bool,
        firstIndex: Int = 0,
        from origin: MozillaStoreOrigin
    ) -> [Record] {
        let knownClient = isClientInFile ? client : borrowed?.client ?? client
        var notes = pending.notes
        if let note = borrowingNote(borrowed: borrowed, client: client, isClientInFile: isClientInFile) {
            notes.append(note)
        }
        return stride(from: 0, to: pending.events.count, by: EventPing.maximumEventCount).enumerated().map {
            number, start in
            let end = min(start + EventPing.maximumEventCount, pending.events.count)
            let events = pending.events.jsonArray(of: start..<end)
            return Record(
                system: .mozilla, type: origin.pingTypeFromName,
                id: UUIDText.ofPendingEvents(events, type: origin.pingTypeFromName, client: knownClient),
                client: knownClient,
                app: borrowed?.app ?? App(id: origin.applicationID),
                payload: payload(events: events, borrowed: borrowed, client: knownClient),
                source: origin.source(index: firstIndex + number),
                notes: notes, held: [.pendingEvents])
        }
    }

    private static func borrowingNote(borrowed: BorrowedFields?, client: String?, isClientInFile: Bool) -> String? {
        if let borrowed {
            let names = borrowed.fields.map(\.key.description).joined(separator: ", ")
            return "PE borrowed from ping \(borrowed.pingID): \(names)"
        }
        return client == nil || isClientInFile ? nil : "PE borrowed from the preferences: clientId"
    }

    private static func payload(events: [UInt8], borrowed: BorrowedFields?, client: String?) -> [UInt8] {
        var object = CanonicalObject()
        for field in borrowed?.fields ?? [] { object.set(field.key, canonical: field.value) }
        if let client { object.set("clientId", string: client) }
        object.set("events", canonical: events)
        return object.bytes
    }
}
