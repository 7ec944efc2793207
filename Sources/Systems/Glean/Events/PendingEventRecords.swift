import JSONText
import Telemetry

/// Makes records of events that are in no ping yet, so that analysis sees them. They are never uploaded: the phone will send
/// them itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
enum PendingEventRecords {
    /// Makes a record of each run of events.
    /// - Parameters:
    ///   - name: the ping that the events wait for.
    ///   - source: the file; each record has the number of its run.
    static func make(_ file: PendingEventsFile, ofPing name: String, borrowed: BorrowedInfo?, source: Source)
        -> [Record]
    {
        guard file.hasEvents else { return [] }
        return file.runs.enumerated().map { number, events in
            var payload = CanonicalObject()
            if let borrowed { payload.set(GleanKeys.clientInfo, canonical: borrowed.info) }
            payload.set(GleanKeys.events, canonical: events)
            var place = source
            place.index = number
            let client = borrowed?.client
            return Record(
                system: .glean, type: name, id: UUIDText.ofPendingEvents(events, type: name, client: client),
                client: client, app: borrowed?.app, payload: payload.bytes, source: place,
                notes: borrowed.map { ["G57 client_info borrowed from \($0.origin)"] } ?? [], held: [.pendingEvents])
        }
    }
}
