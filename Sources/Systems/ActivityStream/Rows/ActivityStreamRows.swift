import JSONText
import Telemetry

/// The conversion of single pings and batches of pings to rows of the event table.
///
/// Source: "Exports", section 1; "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 4.
struct ActivityStreamRows: RowFormat {
    let tables: [Table] = []

    func addRows(of payload: RecordPayload, to rows: inout RecordRows, nested: inout JSONDocument) -> DeviceCells {
        let document = payload.document
        let pings = document.activityStreamPings
        for ping in pings { rows.add(Self.cells(of: ping, in: document, &rows.buffer)) }
        let locale = pings.lazy.compactMap { document.value(of: ActivityStreamKeys.locale, in: $0) }.first
        return DeviceCells(locale: rows.buffer.keep(string: locale, of: document))
    }

    private static func cells(of ping: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> EventCells {
        var cells = EventCells()
        let keys = [ActivityStreamKeys.event, ActivityStreamKeys.source, ActivityStreamKeys.page]
        let columns = keys.map { document.value(of: $0, .string, in: ping) }
        cells.name = buffer.keep(string: columns[0], of: document)
        cells.object = buffer.keep(string: columns[1], of: document)
        cells.value = buffer.keep(string: columns[2], of: document)
        cells.extra = buffer.keep(membersOf: ping, of: document) { !columns.contains($0.value) }
        return cells
    }
}
