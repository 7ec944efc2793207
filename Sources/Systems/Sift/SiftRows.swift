import JSONText
import Telemetry

/// The conversion of the events of list requests, and of the app and device states in them, to table rows.
///
/// Source: "Exports", section 1; "Sift iOS SDK: on-disk store, list request", sections 5 and 6.1.
struct SiftRows: RowFormat {
    let tables = SiftStateRows.tables

    private enum Keys {
        static let time: JSONKey = "time"
        static let userID: JSONKey = "user_id"
    }

    /// The keys of the states in an event that the column `extra` does not contain.
    private static let stateKeys = [SiftRequestKeys.appState, SiftRequestKeys.deviceProperties]

    /// The keys of the system name, the system version and the model in the current and in the oldest device
    /// properties.
    private static let deviceKeys: [(state: JSONKey, keys: [[JSONKey]])] = [
        (
            SiftRequestKeys.deviceProperties,
            [["device_system_name"], ["device_system_version"], ["device_hardware_machine", "device_model"]]
        ),
        (
            SiftRequestKeys.earlyDeviceProperties,
            [["system_name"], ["system_version"], ["hw.machine", "hw_machine", "model"]]
        ),
    ]

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        guard let events = document.array(SiftRequestKeys.data, in: document.root) else { return DeviceCells() }
        var device = DeviceCells()
        var states = SiftStateRows()
        document.forEachElement(of: events) { event in
            states.add(event, of: document, to: &rows)
            if let cells = Self.device(of: event, in: document, &rows.buffer) { device = cells }
            rows.add(Self.cells(of: event, in: document, rows.extraContents, &rows.buffer))
        }
        return device
    }

    private static func cells(
        of event: JSONNode, in document: JSONDocument, _ extraContents: ExtraContents, _ buffer: inout RowBuffer
    ) -> EventCells {
        var cells = EventCells()
        let time = document.value(of: Keys.time, .number, in: event)
        let type = document.value(of: SiftRequestKeys.type, .string, in: event)
        let otherTables =
            switch extraContents {
            case .remainingData: Self.stateKeys.map { document.value(of: $0, in: event) }
            case .allTables: [JSONNode?]()
            }
        var usedTime: JSONNode?
        if let time, let instant = Timestamp(decimalMilliseconds: document.bytes(of: time)) {
            cells.basis = .event(instant)
            usedTime = time
        }
        cells.userID = buffer.keep(string: document.value(of: Keys.userID, in: event), of: document)
        cells.name = buffer.keep(document.siftEventType(of: event))
        cells.extra = buffer.keep(membersOf: event, of: document) { member in
            member.value != usedTime && member.value != type && !otherTables.contains(member.value)
        }
        return cells
    }

    /// Returns the cells of the device properties in an event, or `nil` if the event has none.
    private static func device(
        of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> DeviceCells? {
        for (state, keys) in deviceKeys {
            guard let properties = document.value(of: state, in: event), document.memberCount(of: properties) > 0 else {
                continue
            }
            let cells = keys.map { names in
                buffer.keep(
                    string: names.lazy.compactMap { document.value(of: $0, in: properties) }.first, of: document)
            }
            return DeviceCells(os: cells[0], osVersion: cells[1], device: cells[2])
        }
        return nil
    }
}
