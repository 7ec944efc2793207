import JSONText
import Telemetry

/// The functions that create records of events that are not yet included in a ping, so that the events are available
/// for analysis.
///
/// The records are never uploaded, because the app will send the events itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
enum PendingEventRecords {
    /// Creates a record for each batch of events in `file`, or no records if it contains only restart markers.
    static func makeRecords(
        of file: PendingEventsFile, ofPing name: String, borrowed: BorrowedClientInfo?, source: Source
    )
        -> [Record]
    {
        guard file.hasEvents else { return [] }
        return file.batches.enumerated().map { number, events in
            var payload = CanonicalObject()
            if let borrowed { payload.set(GleanKeys.clientInfo, canonical: borrowed.info) }
            payload.set(GleanKeys.events, canonical: events)
            var recordSource = source
            recordSource.index = number
            let client = borrowed?.client
            return Record(
                system: .glean, type: name, id: UUIDText.ofPendingEvents(events, type: name, client: client),
                client: client, app: borrowed?.app, payload: payload.bytes, source: recordSource,
                notes: borrowed.map { ["G57 client_info borrowed from \($0.origin)"] } ?? [], held: [.pendingEvents])
        }
    }
}
