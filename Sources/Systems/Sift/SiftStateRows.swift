import Bytes
import JSONText
import Telemetry

/// The conversion of app states, device properties and sensor readings to table rows, with a column for each documented
/// entry.
///
/// The columns are derived from ``SiftStateFields``. A value whose type is not the documented one has no column, but
/// remains in the column `state`.
///
/// Source: "Exports", section 1; "Sift iOS SDK: on-disk store, list request", section 5.
struct SiftStateRows {
    static let tables = [states.table, readings.table]

    /// The number of readings of the current record so far.
    private var readingCount = 0

    /// Adds the rows of an event, whose own row is added afterwards.
    mutating func add(_ event: JSONNode, of document: JSONDocument, to rows: inout RecordRows) {
        addStates(of: event, in: document, to: &rows)
        guard let state = document.value(of: SiftRequestKeys.appState, .object, in: event) else { return }
        for source in Self.readingSources {
            guard let list = document.array(source.key, in: state) else { continue }
            addReadings(in: list, of: document, source, to: &rows)
        }
    }

    // MARK: Columns

    /// A column whose cells are values of members.
    fileprivate struct ValueColumn {
        let name: String
        let form: PayloadForm
        let meaning: String

        /// Whether the values are times in milliseconds since 1970.
        ///
        /// Another column contains such a time as a string.
        var isTime: Bool { name.hasSuffix("time_ms") }

        /// Creates a column for a field of an object.
        ///
        /// The name of the object makes a general name, such as `time`, unique.
        init(_ field: PayloadField, of object: String) {
            name = Self.name(field.key, of: object)
            form = field.form
            meaning = field.meaning
        }

        init(_ name: String, _ form: PayloadForm, _ meaning: String) {
            self.name = name
            self.form = form
            self.meaning = meaning
        }

        static func name(_ key: JSONKey, of object: String) -> String {
            switch key {
            case "accuracy": "\(object)_accuracy"
            case "time": "\(object)_time_ms"
            default: key.description
            }
        }

        /// The columns of a table whose rows have the value at `index`.
        func columns(_ index: Int) -> [Column<ValueRow>] {
            guard isTime else { return [.cell(name, TableColumn.Kind(form), meaning) { $0.cells[index] }] }
            return [
                .stored(String(name.dropLast(3)), .time, "\(meaning): RFC 3339, UTC, with milliseconds") {
                    row, buffer in
                    guard case .integer(let milliseconds) = row.cells[index],
                        let time = Timestamp(milliseconds: milliseconds)
                    else { return .null }
                    return buffer.keep(time)
                },
                .cell(name, .integer, "\(meaning) in milliseconds since 1970-01-01, UTC") { $0.cells[index] },
            ]
        }
    }

    /// A row in one of the tables.
    fileprivate struct ValueRow {
        let kind: Cell
        /// The values of the members.
        let cells: [Cell]
        /// The complete state, or null for a reading.
        var state = Cell.null
        /// The index of the event of a reading.
        var event = 0
    }

    /// A member, and the column that contains its value.
    fileprivate struct ValueSource {
        let key: JSONKey
        let index: Int
        let column: ValueColumn
    }

    /// Returns the members of an object in canonical order, with the columns that contain their values.
    private static func sources(
        _ members: [(key: JSONKey, column: String)], in columns: [ValueColumn]
    ) -> [ValueSource] {
        members.compactMap { key, name in
            columns.firstIndex { $0.name == name }.map { ValueSource(key: key, index: $0, column: columns[$0]) }
        }
        .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static func sources(of fields: PayloadFields, in object: String) -> [ValueSource] {
        sources(fields.sorted.map { ($0.key, ValueColumn.name($0.key, of: object)) }, in: valueColumns)
    }

    // MARK: States

    /// The columns of the table of states that contain values of the states.
    private static let valueColumns: [ValueColumn] = {
        let location = SiftStateFields.location.sorted.map { ValueColumn($0, of: "location") }
        let coordinates = ["latitude", "longitude", "altitude"]
        var columns = coordinates.compactMap { name in location.first { $0.name == name } }
        let nested = Set(["heading", "location"] + SiftStateFields.readings.map(\.key))
        let state = SiftStateFields.appState.sorted.filter { !nested.contains($0.key) }
        columns += state.map { ValueColumn($0, of: "state") }
        columns += location.filter { !coordinates.contains($0.name) }
        columns += SiftStateFields.heading.sorted.map { ValueColumn($0, of: "heading") }
        let names = Set(columns.map(\.name))
        return columns
            + SiftStateFields.deviceProperties.sorted.filter { !names.contains($0.key.description) }
            .map { ValueColumn($0, of: "device") }
    }()

    private static let states = RowTable<ValueRow>(
        "sift_states", aRowForEach: "app state or device properties of a Sift event", key: ["record", "n", "kind"],
        [
            .record, .number("the index of the event in its record, from 0"),
            .cell(
                "kind", .text,
                "the kind of state: `app_state`, `device_properties`, or `event_fields` for the location and the heading in "
                    + "the fields of an event of an early SDK",
                isRequired: true
            ) { $0.kind },
        ] + valueColumns.enumerated().flatMap { index, column in column.columns(index) } + [
            .cell("state", .json, "the complete state or properties", isRequired: true) { $0.state }
        ])

    private static let locationKey: JSONKey = "location"
    private static let headingKey: JSONKey = "heading"
    private static let fieldsKey: JSONKey = "fields"

    private static let appState = sources(of: SiftStateFields.appState, in: "state")
    private static let location = sources(of: SiftStateFields.location, in: "location")
    private static let heading = sources(of: SiftStateFields.heading, in: "heading")
    private static let deviceProperties = sources(of: SiftStateFields.deviceProperties, in: "device")
    private static let earlyLocation = sources(
        SiftStateFields.earlyLocation.map { (JSONKey($0), $1) }, in: valueColumns)
    private static let earlyProperties = sources(
        SiftStateFields.earlyNames.map { (JSONKey($0), $1) }
            + SiftStateFields.systemControls.flatMap { name, column in
                [name, name.replacing(".", with: "_")].map { (JSONKey($0), column) }
            }, in: valueColumns)

    private func addStates(of event: JSONNode, in document: JSONDocument, to rows: inout RecordRows) {
        // The cells are determined only if the output contains the table, because this takes a noticeable time.
        guard rows.buffer.index(of: Self.states.table) != nil else { return }
        func add(_ kind: String, _ state: JSONNode, _ cells: [Cell]) {
            let row = ValueRow(
                kind: rows.buffer.keep(kind), cells: cells, state: rows.buffer.keep(json: state, of: document))
            rows.add(row, number: rows.eventCount, to: Self.states)
        }
        let noCells = [Cell](repeating: .null, count: Self.valueColumns.count)
        if let state = document.notNull(SiftRequestKeys.appState, in: event) {
            var cells = noCells
            rows.buffer.keep(Self.appState, in: state, of: document, as: &cells)
            for (key, sources) in [(Self.locationKey, Self.location), (Self.headingKey, Self.heading)] {
                guard let object = document.value(of: key, .object, in: state) else { continue }
                rows.buffer.keep(sources, in: object, of: document, as: &cells)
            }
            add("app_state", state, cells)
        }
        if let properties = document.notNull(SiftRequestKeys.deviceProperties, in: event) {
            var cells = noCells
            rows.buffer.keep(Self.deviceProperties, in: properties, of: document, as: &cells)
            add("device_properties", properties, cells)
        } else if let properties = document.value(of: SiftRequestKeys.earlyDeviceProperties, .object, in: event) {
            var cells = noCells
            rows.buffer.keep(early: Self.earlyProperties, in: properties, of: document, as: &cells)
            Self.keepLists(in: properties, of: document, as: &cells, &rows.buffer)
            add("device_properties", properties, cells)
        }
        if let fields = document.value(of: Self.fieldsKey, .object, in: event) {
            var cells = noCells
            rows.buffer.keep(early: Self.earlyLocation, in: fields, of: document, as: &cells)
            if cells != noCells { add("event_fields", fields, cells) }
        }
    }

    /// Stores the lists whose elements early versions record as separate entries, such as `suspicious_file.0`.
    private static func keepLists(
        in properties: JSONNode, of document: JSONDocument, as cells: inout [Cell], _ buffer: inout RowBuffer
    ) {
        var elements: [Int: [(number: Int, node: JSONNode)]] = [:]
        for member in document.members(of: properties) where document.kind(of: member.value) == .string {
            guard let (column, number) = listElement(document.bytes(of: member.key)) else { continue }
            elements[column, default: []].append((number, member.value))
        }
        for (column, found) in elements.sorted(by: { $0.key < $1.key }) {
            let nodes = found.sorted { $0.number < $1.number }.map(\.node)
            cells[column] = buffer.keep(arrayOf: nodes, of: document)
        }
    }

    private static let earlyLists = sources(SiftStateFields.earlyLists.map { (JSONKey($0), $1) }, in: valueColumns)

    /// Returns the column and the index of the list element with the key `key`, or `nil` for any other key.
    private static func listElement(_ key: Span<UInt8>) -> (column: Int, number: Int)? {
        var end = key.count
        while end > 0, key[end - 1].isDigit { end -= 1 }
        guard end > 0, (1...4).contains(key.count - end), key[end - 1].isOne(of: "._"),
            let number = key.extracting(end...).decimalNumber,
            let source = earlyLists.first(where: { key.extracting(..<(end - 1)).equals($0.key.utf8.span) })
        else { return nil }
        return (source.index, number)
    }

    // MARK: Readings

    /// The columns of the table of readings that contain values of the readings.
    private static let readingColumns: [ValueColumn] =
        [ValueColumn("time_ms", .integer(), "the time of the reading")]
        + ["x", "y", "z"].map { axis in
            ValueColumn(
                axis, .number(.any),
                "the value of `raw_accelerometer` in g, with gravity, of `raw_gyro` in rad/s, or of `raw_magnetometer` in "
                    + "µT, not corrected, along the \(axis) axis; NULL for `motion`")
        } + SiftStateFields.motion.sorted.filter { $0.key != "time" }.map { ValueColumn($0, of: "motion") }

    private static let readings = RowTable<ValueRow>(
        ofRecords: "sift_readings",
        aRowForEach:
            "reading of the motion sensors, the accelerometer, the gyroscope or the magnetometer in a Sift event",
        [
            .integer("event", "the number `n` of the event in the table `events`") { $0.event },
            .cell(
                "kind", .text,
                "the kind of reading: `motion`, `raw_accelerometer`, `raw_gyro` or `raw_magnetometer`", isRequired: true
            ) { $0.kind },
        ] + readingColumns.enumerated().flatMap { index, column in column.columns(index) })

    /// The keys of the lists of readings, and the members of their readings.
    private static let readingSources = SiftStateFields.readings.map { key, fields in
        let members = fields.sorted.map { field in
            let axis = String(field.key.description.suffix(1))
            return (field.key, field.key == "time" ? "time_ms" : key == "motion" ? field.key.description : axis)
        }
        return (key: key, values: sources(members, in: readingColumns))
    }

    private mutating func addReadings(
        in list: JSONNode, of document: JSONDocument, _ source: (key: JSONKey, values: [ValueSource]),
        to rows: inout RecordRows
    ) {
        guard rows.buffer.index(of: Self.readings.table) != nil else { return }
        document.forEachElement(of: list) { reading in
            guard document.kind(of: reading) == .object else { return }
            var cells = [Cell](repeating: .null, count: Self.readingColumns.count)
            rows.buffer.keep(source.values, in: reading, of: document, as: &cells)
            let row = ValueRow(
                kind: rows.buffer.keep(source.key.description), cells: cells, event: rows.eventCount)
            rows.add(row, number: readingCount, to: Self.readings)
            readingCount += 1
        }
    }
}

// MARK: - Cells

extension JSONDocument {
    /// Returns the value of `key`, or `nil` if the value is missing or null.
    fileprivate func notNull(_ key: JSONKey, in object: JSONNode) -> JSONNode? {
        value(of: key, in: object).flatMap { kind(of: $0) == .null ? nil : $0 }
    }

    /// Calls `body` with each of the sources that `object` contains, and with its value.
    fileprivate func forEachValue(
        _ sources: [SiftStateRows.ValueSource], in object: JSONNode,
        _ body: (SiftStateRows.ValueSource, JSONNode) -> Void
    ) {
        // Members and sources are both in canonical order, so a single pass matches them.
        var index = 0
        let count = memberCount(of: object)
        for source in sources {
            while index < count {
                let member = member(at: index, of: object)
                let order = bytes(of: member.key).ordered(against: source.key)
                guard order <= 0 else { break }
                index += 1
                if order == 0 {
                    body(source, member.value)
                    break
                }
            }
        }
    }
}

extension RowBuffer {
    fileprivate mutating func keep(
        _ sources: [SiftStateRows.ValueSource], in object: JSONNode, of document: JSONDocument, as cells: inout [Cell]
    ) {
        document.forEachValue(sources, in: object) { source, value in
            cells[source.index] = keep(value, as: source.column.form, of: document)
        }
    }

    /// Stores the values of entries that early versions record as strings.
    ///
    /// If several entries have the same column, the first of them is stored.
    fileprivate mutating func keep(
        early sources: [SiftStateRows.ValueSource], in object: JSONNode, of document: JSONDocument,
        as cells: inout [Cell]
    ) {
        document.forEachValue(sources, in: object) { source, value in
            guard document.kind(of: value) == .string, cells[source.index] == .null else { return }
            cells[source.index] = keep(early: value, of: source.column, in: document)
        }
    }

    private mutating func keep(early text: JSONNode, of column: SiftStateRows.ValueColumn, in document: JSONDocument)
        -> Cell
    {
        let bytes = document.bytes(of: text)
        switch column.form {
        case .integer where column.isTime:
            // Early versions record fractions of milliseconds.
            return DecimalTime(bytes).flatMap { Timestamp(milliseconds: $0.seconds) }.map { .integer($0.milliseconds) }
                ?? .null
        case .integer: return Int64(decimal: bytes).map { .integer($0) } ?? .null
        case .boolean: return bytes.equals("1") ? .flag(true) : bytes.equals("0") ? .flag(false) : .null
        case .number: return keep(decimal: text, of: document)
        case .string: return keep(string: text, of: document)
        case .any, .version, .list, .structure, .object, .open, .map, .orNull: return .null
        }
    }
}
