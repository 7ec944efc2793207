import JSONText
import Telemetry

/// The conversion of the events of list requests, and of the app and device states in them, to table rows.
///
/// Source: "Exports", section 1; "Sift iOS SDK: on-disk store, list request", sections 5 and 6.1.
struct SiftRows: RowFormat {
    let tables = [Self.states.table]

    /// The cells of a row in the table `sift_states`.
    private struct StateRow {
        let kind, latitude, longitude, altitude, state: Cell
    }

    private static let states = RowTable<StateRow>(
        "sift_states", aRowForEach: "app state or device properties of a Sift event", key: ["record", "n", "kind"],
        [
            .record, .number("the index of the event in its record, from 0"),
            .cell("kind", .text, "the kind of state: `app_state` or `device_properties`", isRequired: true) { $0.kind },
            .cell("latitude", .real, "the latitude of the device in degrees, WGS 84") { $0.latitude },
            .cell("longitude", .real, "the longitude of the device in degrees, WGS 84") { $0.longitude },
            .cell("altitude", .real, "the altitude of the device in meters") { $0.altitude },
            .cell("state", .json, "the complete state or properties", isRequired: true) { $0.state },
        ])

    private enum Keys {
        static let altitude: JSONKey = "altitude"
        static let latitude: JSONKey = "latitude"
        static let location: JSONKey = "location"
        static let longitude: JSONKey = "longitude"
        static let oldDeviceProperties: JSONKey = "device_properties"
        static let time: JSONKey = "time"
        static let userID: JSONKey = "user_id"
    }

    /// The keys of the states in an event, and the names of their kinds in the table `sift_states`.
    private static let stateKinds = [
        (key: SiftRequestKeys.appState, kind: "app_state"),
        (key: SiftRequestKeys.deviceProperties, kind: "device_properties"),
    ]

    /// The keys of the system name, the system version and the model in the current and in the oldest device
    /// properties.
    private static let deviceKeys: [(state: JSONKey, keys: [[JSONKey]])] = [
        (
            SiftRequestKeys.deviceProperties,
            [["device_system_name"], ["device_system_version"], ["device_hardware_machine", "device_model"]]
        ),
        (Keys.oldDeviceProperties, [["system_name"], ["system_version"], ["hw.machine", "hw_machine", "model"]]),
    ]

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        guard let events = document.array(SiftRequestKeys.data, in: document.root) else { return DeviceCells() }
        var device = DeviceCells()
        var event = document.firstElement(of: events)
        while let current = event {
            Self.addStates(of: current, in: document, to: &rows)
            if let cells = Self.device(of: current, in: document, &rows.buffer) { device = cells }
            rows.add(Self.cells(of: current, in: document, rows.extraContents, &rows.buffer))
            event = document.element(after: current, of: events)
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
            case .remainingData: Self.stateKinds.map { document.value(of: $0.key, in: event) }
            case .allTables: [JSONNode?]()
            }
        var usedTime: JSONNode?
        if let time, let instant = Int64(decimal: document.bytes(of: time)).flatMap({ Timestamp(milliseconds: $0) }) {
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

    private static func addStates(of event: JSONNode, in document: JSONDocument, to rows: inout RecordRows) {
        for (key, kind) in stateKinds {
            guard let state = document.value(of: key, in: event), document.kind(of: state) != .null else { continue }
            let location = document.value(of: Keys.location, in: state)
            func coordinate(_ key: JSONKey) -> Cell {
                rows.buffer.keep(real: location.flatMap { document.value(of: key, in: $0) }, of: document)
            }
            let row = StateRow(
                kind: rows.buffer.keep(kind), latitude: coordinate(Keys.latitude),
                longitude: coordinate(Keys.longitude),
                altitude: coordinate(Keys.altitude), state: rows.buffer.keep(json: state, of: document))
            rows.add(row, number: rows.eventCount, to: states)
        }
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
