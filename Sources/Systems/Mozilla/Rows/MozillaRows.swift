import JSONText
import Telemetry

/// The conversion of the events of event pings, and of the fields of core pings, to table rows.
///
/// Source: "Exports", section 1; "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1, 6.5
/// and 6.6.
struct MozillaRows: RowFormat {
    let tables = [CoreRows.core, CoreRows.searches]

    func addRows(of payload: RecordPayload, to rows: inout RecordRows, nested: inout JSONDocument) -> DeviceCells {
        let document = payload.document
        if payload.type == CoreRows.type { CoreRows.addRows(of: document, to: &rows) }
        if let events = document.array(MeasurementKeys.events, in: document.root) {
            Self.addEvents(events, of: document, to: &rows)
        }
        func cell(_ key: JSONKey) -> Cell {
            rows.buffer.keep(string: document.value(of: key, in: document.root), of: document)
        }
        return DeviceCells(
            os: cell(Self.os), osVersion: cell(Self.osVersion), device: cell(Self.device), locale: cell(Self.locale))
    }

    private static let os: JSONKey = "os"
    private static let osVersion: JSONKey = "osversion"
    private static let device: JSONKey = "device"
    private static let locale: JSONKey = "locale"

    /// Adds a row for each event, and marks events from earlier runs of the app (case E13).
    private static func addEvents(_ events: JSONNode, of document: JSONDocument, to rows: inout RecordRows) {
        let firstIndexOfLastRun = EventTuples.firstIndexOfLastRun(in: events, of: document)
        let processStart = rows.buffer.keep(
            integer: document.value(of: MeasurementKeys.processStart, in: document.root), of: document)
        var index = 0
        var event = document.firstElement(of: events)
        while let current = event {
            var cells = cells(of: current, in: document, &rows.buffer)
            if index < firstIndexOfLastRun {
                cells.basis = .earlierRun
            } else {
                cells.basis = TimeBasis(processStart, .processStart, elapsed: cells.elapsed) ?? .record
            }
            rows.add(cells)
            event = document.element(after: current, of: events)
            index += 1
        }
    }

    /// Returns the cells of an event, which can be invalid, and omits a timestamp or a name of an unexpected type.
    private static func cells(
        of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> EventCells {
        var cells = EventCells()
        var names = (category: JSONNode?.none, method: JSONNode?.none, object: JSONNode?.none)
        var element = document.firstElement(of: event)
        var position = 0
        while let current = element, position < 6 {
            let name = document.kind(of: current) == .string ? current : nil
            switch position {
            case 0: cells.elapsed = buffer.keep(integer: current, of: document)
            case 1: names.category = name
            case 2: names.method = name
            case 3: names.object = name
            case 4: cells.value = buffer.keep(value: current, of: document)
            default: cells.extra = buffer.keep(json: current, of: document)
            }
            element = document.element(after: current, of: event)
            position += 1
        }
        switch names {
        case (let category?, let method?, let object?):
            let joined = buffer.keep(joined: category, method, object, of: document)
            (cells.name, cells.category) = (joined.whole, joined.first)
            (cells.method, cells.object) = (joined.second, joined.third)
        case (let category?, let method?, nil):
            let joined = buffer.keep(joined: category, method, nil, of: document)
            (cells.name, cells.category, cells.method) = (joined.whole, joined.first, joined.second)
        case (nil, _, _), (_, nil, _):
            cells.category = buffer.keep(string: names.category, of: document)
            cells.method = buffer.keep(string: names.method, of: document)
            cells.object = buffer.keep(string: names.object, of: document)
        }
        return cells
    }
}
