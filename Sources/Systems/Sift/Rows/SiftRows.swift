import JSONText
import Telemetry

/// List requests as rows: their events, and the states of app and device that came with them.
///
/// Source: "Exports", section 1; "Sift iOS SDK: on-disk store, list request", sections 5 and 6.1.
struct SiftRows: RowFormat {
    let tables = [Self.states]

    private static let states = Table(
        "sift_states", aRowForEach: "app state or device properties of a Sift event",
        [
            .record,
            TableColumn("n", .integer, "the number of the event in its record, from 0", isRequired: true),
            TableColumn("kind", .text, "`app_state` or `device_properties`", isRequired: true),
            TableColumn("latitude", .real, "degrees of the location, WGS 84"),
            TableColumn("longitude", .real, "degrees of the location, WGS 84"),
            TableColumn("altitude", .real, "metres of the location"),
            TableColumn("state", .json, "all of the state", isRequired: true),
        ], key: ["record", "n", "kind"], isOfRecords: true)

    private enum Keys {
        static let altitude: JSONKey = "altitude"
        static let appState: JSONKey = "ios_app_state"
        static let deviceProperties: JSONKey = "ios_device_properties"
        static let latitude: JSONKey = "latitude"
        static let location: JSONKey = "location"
        static let longitude: JSONKey = "longitude"
        static let oldDeviceProperties: JSONKey = "device_properties"
        static let time: JSONKey = "time"
    }

    /// The names of what is told of a phone: by the state of the device, and by the properties of the oldest SDK.
    private static let namesOfDevice: [(state: JSONKey, keys: [[JSONKey]])] = [
        (
            Keys.deviceProperties,
            [["device_system_name"], ["device_system_version"], ["device_hardware_machine", "device_model"]]
        ),
        (Keys.oldDeviceProperties, [["system_name"], ["system_version"], ["hw.machine", "hw_machine", "model"]]),
    ]

    func addRows(of payload: RecordPayload, to rows: inout RecordRows, nested: inout JSONDocument) -> DeviceCells {
        let document = payload.document
        guard let events = document.array(SiftRequestKeys.data, in: document.root) else { return DeviceCells() }
        var device = DeviceCells()
        var event = document.firstElement(of: events)
        while let current = event {
            Self.addStates(of: current, in: document, to: &rows)
            if let told = Self.device(of: current, in: document, &rows.buffer) { device = told }
            rows.add(Self.cells(of: current, in: document, &rows.buffer))
            event = document.element(after: current, of: events)
        }
        return device
    }

    private static func cells(of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> EventCells {
        var cells = EventCells()
        let time = document.value(of: Keys.time, .number, in: event)
        let type = document.value(of: SiftRequestKeys.type, .string, in: event)
        let states = [Keys.appState, Keys.deviceProperties].map { document.value(of: $0, in: event) }
        if let time, let instant = Int64(decimal: document.bytes(of: time)).flatMap({ Timestamp(milliseconds: $0) }) {
            cells.basis = .event(instant)
        }
        cells.name = buffer.keep(string: type, of: document)
        cells.extra = buffer.keep(membersOf: event, of: document) { member in
            member.value != time && member.value != type && !states.contains(member.value)
        }
        return cells
    }

    private static func addStates(of event: JSONNode, in document: JSONDocument, to rows: inout RecordRows) {
        for (key, kind) in [(Keys.appState, "app_state"), (Keys.deviceProperties, "device_properties")] {
            guard let state = document.value(of: key, in: event), document.kind(of: state) != .null else { continue }
            let location = document.value(of: Keys.location, in: state)
            let place = [Keys.latitude, Keys.longitude, Keys.altitude].map { key in
                rows.buffer.keep(real: location.flatMap { document.value(of: key, in: $0) }, of: document)
            }
            rows.add(
                only: [.integer(Int64(rows.eventCount)), rows.buffer.keep(kind)] + place
                    + [rows.buffer.keep(json: state, of: document)], to: states.name)
        }
    }

    /// What an event tells of the phone; nil if it tells nothing.
    private static func device(
        of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> DeviceCells? {
        for (state, keys) in namesOfDevice {
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
