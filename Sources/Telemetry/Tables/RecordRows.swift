import JSONText

/// The cells in an event's row that depend on the event, not only on its record.
public struct EventCells: Sendable {
    /// The id of the user.
    public var userID = Cell.null
    /// The origin of the time of the event.
    public var basis = TimeBasis.record
    /// The elapsed time in milliseconds, as measured by the clock that the system documents.
    public var elapsed = Cell.null
    /// The name of the event.
    public var name = Cell.null
    /// The category of the event.
    public var category = Cell.null
    /// The method of the event.
    public var method = Cell.null
    /// The object of the event.
    public var object = Cell.null
    /// The value of the event.
    public var value = Cell.null
    /// The amount of money that the event reports, as a number.
    public var revenue = Cell.null
    /// The code of the currency of the revenue.
    public var currency = Cell.null
    /// The duration of the session that the event reports, in milliseconds.
    public var sessionDuration = Cell.null
    /// All other members of the event as JSON.
    public var extra = Cell.null

    /// Creates cells without values.
    public init() {}
}

/// The origin of the time of an event.
public enum TimeBasis: Sendable {
    /// The time of the record, which is used because the event contains only a relative time.
    case record
    /// The time of the event itself.
    case event(Timestamp)
    /// The time of the record. It is used because the time of the event is relative to the start of an earlier process,
    /// and that start is unknown.
    case earlierRun
    /// A time that is calculated from an anchor in the payload.
    case known(Timestamp, from: TimeAnchor)

    /// Creates the basis for an event that occurred `elapsed` milliseconds after `start`.
    ///
    /// `start` is in milliseconds since 1970. Returns `nil` if `start` or `elapsed` is unknown or negative, or if the
    /// resulting time is not plausible.
    public init?(_ start: Cell, _ anchor: TimeAnchor, elapsed: Cell) {
        guard case .integer(let start) = start, case .integer(let elapsed) = elapsed, start >= 0, elapsed >= 0 else {
            return nil
        }
        let (sum, overflows) = start.addingReportingOverflow(elapsed)
        guard !overflows, let time = Timestamp(milliseconds: sum), time.isPlausible else { return nil }
        self = .known(time, from: anchor)
    }
}

/// The part of a payload that determines the time of an event.
public enum TimeAnchor: Sendable {
    /// A time in the event.
    case event
    /// The start of the app's process, to which the elapsed time of the event is added.
    case processStart
    /// The start of the time span of the ping, to which the elapsed time of the event is added.
    case pingStart
}

/// The device properties in the payload of a record.
public struct DeviceCells: Sendable {
    /// The name of the operating system.
    public var os = Cell.null
    /// The version of the operating system.
    public var osVersion = Cell.null
    /// The model of the device.
    public var device = Cell.null
    /// The locale of the device.
    public var locale = Cell.null

    /// Creates cells for the given device properties.
    ///
    /// Omitted properties are null.
    public init(os: Cell = .null, osVersion: Cell = .null, device: Cell = .null, locale: Cell = .null) {
        self.os = os
        self.osVersion = osVersion
        self.device = device
        self.locale = locale
    }
}

/// The conversion of the payloads of a system to table rows.
///
/// Source: "Exports", section 1.
public protocol RowFormat: Sendable {
    /// The tables that only this system has.
    var tables: [Table] { get }

    /// Adds to `rows` a row for each event in `payload`, whose root is the payload of a record of the type `type`, and the rows of the tables that only this system has.
    ///
    /// The events have the same order as in ``Vocabulary/labels(of:in:nested:)``. `nested` is reusable memory for
    /// JSON in strings.
    ///
    /// - Returns: The properties of the device that the payload contains.
    func addRows(
        of payload: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells

    /// Adds to `buffer` the rows that belong to no record, such as definitions of metrics.
    func addSharedRows(to buffer: inout RowBuffer)
}

extension RowFormat {
    /// Adds no rows, because most systems have none that belong to no record.
    public func addSharedRows(to buffer: inout RowBuffer) {}
}

/// The selection of event data for the column `extra`.
public enum ExtraContents: Sendable {
    /// The data that neither another column nor another table contains.
    case remainingData
    /// The data that no other column of the table of events contains. It is for outputs without other tables.
    case allTables
}

/// A collection of the table rows of several records.
public struct RecordRows: Sendable {
    /// The rows and the strings of their cells.
    public var buffer: RowBuffer
    /// The number of events of the current record so far.
    public private(set) var eventCount = 0
    /// The number of attributes of the current record so far.
    private var attributeCount = 0
    /// The selection of event data for the column `extra`.
    public let extraContents: ExtraContents
    private var record = SharedCells()
    private var labels: [String?] = []
    private var names = Names()

    /// The cells that contain the names of the ``TimeBasis``, ``TimeAnchor`` and ``ClockState`` cases.
    private struct Names: Sendable {
        var record = Cell.null
        var event = Cell.null
        var earlierRun = Cell.null
        var processStart = Cell.null
        var pingStart = Cell.null
        var plausible = Cell.null
        var beforeApp = Cell.null
        var future = Cell.null

        init() {}

        init(in buffer: inout RowBuffer) {
            record = buffer.keep("record")
            event = buffer.keep("event")
            earlierRun = buffer.keep("earlier-run")
            processStart = buffer.keep("process-start")
            pingStart = buffer.keep("ping-start")
            plausible = buffer.keep(ClockState.plausible.rawValue)
            beforeApp = buffer.keep(ClockState.beforeApp.rawValue)
            future = buffer.keep(ClockState.future.rawValue)
        }

        func name(of anchor: TimeAnchor) -> Cell {
            switch anchor {
            case .event: event
            case .processStart: processStart
            case .pingStart: pingStart
            }
        }

        func name(of clock: ClockState) -> Cell {
            switch clock {
            case .plausible: plausible
            case .beforeApp: beforeApp
            case .future: future
            }
        }
    }

    /// An instant as a string and in milliseconds since 1970, the state of its clock, and the name of its origin.
    struct TimeCells: Sendable {
        let text, milliseconds, clock, basis: Cell
    }

    /// The cells that all events of a record have in common.
    public struct SharedCells: Sendable {
        /// The number of the record.
        public var number = Cell.null
        /// The system of the record.
        public var system = Cell.null
        /// The type of the record.
        public var type = Cell.null
        /// The client of the record.
        public var client = Cell.null
        /// The client of the record with its ASCII letters in lowercase.
        public var clientKey = Cell.null
        /// The time of the record as a string.
        public var time = Cell.null
        /// The time of the record in milliseconds since 1970.
        public var milliseconds = Cell.null
        /// The state of the clock that the time of the record results from.
        public var clock = Cell.null
        /// The earliest possible time of the system.
        public var earliestTime = Timestamp(clamping: 0)
        /// Whether the times in the payload are rounded.
        ///
        /// If so, an elapsed time is not added to the start of a process or ping.
        public var hasRoundedTimes = false

        /// Creates cells without values.
        public init() {}
    }

    /// Creates an empty collection of rows for the given tables.
    public init(_ tables: [Table], extraContents: ExtraContents = .remainingData) {
        buffer = RowBuffer(tables)
        self.extraContents = extraContents
        removeAll()
    }

    /// Removes all rows, but keeps their memory for reuse.
    public mutating func removeAll() {
        buffer.removeAll()
        names = Names(in: &buffer)
    }

    /// Stores the client of a record in the cells of the record.
    public mutating func keep(client: String?, in record: inout SharedCells) {
        record.client = buffer.keep(client)
        guard let client, client.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
            return record.clientKey = record.client
        }
        record.clientKey = buffer.keep(ClientID(client).lowercased.string)
    }

    /// Stores the time of a record of `system` in the cells of the record.
    public mutating func keep(time: Timestamp?, of system: (any TelemetrySystem)?, in record: inout SharedCells) {
        record.earliestTime = system?.earliestTime ?? record.earliestTime
        guard let time else { return }
        record.time = buffer.keep(time)
        record.milliseconds = .integer(time.milliseconds)
        record.clock = names.name(of: ClockState(of: time, earliest: record.earliestTime))
    }

    /// Starts the next record, to which the rows that are added afterwards belong.
    ///
    /// `labels` contains the meaning of each event of the record.
    public mutating func begin(_ record: SharedCells, labels: [String?]) {
        self.record = record
        self.labels = labels
        eventCount = 0
        attributeCount = 0
    }

    /// Returns whether the client of the current record is the string at `node`.
    public func isClient(_ node: JSONNode, of document: JSONDocument) -> Bool {
        guard case .text(let start, let count) = record.client, document.kind(of: node) == .string else { return false }
        return document.bytes(of: node).equals(buffer.bytes(start, count).span)
    }

    /// Adds a row for `event` to the rows of the current record.
    public mutating func add(_ event: EventCells) {
        let (time, best) = timeCells(of: event.basis)
        let label = eventCount < labels.count ? buffer.keep(labels[eventCount]) : .null
        let row = EventRow(record: record, event: event, time: time, best: best, label: label)
        buffer.add(row, to: Self.events, at: RowPlace(record: record.number, number: eventCount))
        eventCount += 1
    }

    /// Returns the time for the column `time` of an event, and the best known time for its column `at`.
    private mutating func timeCells(of basis: TimeBasis) -> (time: TimeCells, best: TimeCells) {
        func ofRecord(_ basis: Cell) -> TimeCells {
            TimeCells(text: record.time, milliseconds: record.milliseconds, clock: record.clock, basis: basis)
        }
        let recordTime = ofRecord(names.record)
        switch basis {
        case .record: return (recordTime, recordTime)
        case .earlierRun:
            let earlier = ofRecord(names.earlierRun)
            return (earlier, earlier)
        case .event(let own):
            let cells = cells(of: own, names.event)
            // An implausible time was stored in another unit, or by a phone with a wrong clock.
            return (cells, own.isPlausible ? cells : recordTime)
        case .known(_, .processStart) where record.hasRoundedTimes, .known(_, .pingStart) where record.hasRoundedTimes:
            return (recordTime, recordTime)
        case .known(let time, let anchor): return (recordTime, cells(of: time, names.name(of: anchor)))
        }
    }

    private mutating func cells(of time: Timestamp, _ basis: Cell) -> TimeCells {
        TimeCells(
            text: buffer.keep(time), milliseconds: .integer(time.milliseconds),
            clock: names.name(of: ClockState(of: time, earliest: record.earliestTime)), basis: basis)
    }

    /// Adds a row of the current record to `table`.
    ///
    /// `number` is the index of the row among the rows of the record.
    public mutating func add<Row>(_ row: Row, number: Int = 0, to table: RowTable<Row>) {
        buffer.add(row, to: table, at: RowPlace(record: record.number, number: number))
    }

    /// Adds rows of the current record to `table`, and numbers them from 0.
    public mutating func add<Row>(rows: some Sequence<Row>, to table: RowTable<Row>) {
        guard buffer.index(of: table.table) != nil else { return }
        for (number, row) in rows.enumerated() { add(row, number: number, to: table) }
    }
}

// MARK: - The table of events

/// The cells of a row in the table of events.
public struct EventRow: Sendable {
    let record: RecordRows.SharedCells
    let event: EventCells
    let time, best: RecordRows.TimeCells
    let label: Cell
}

extension RecordRows {
    /// The table of the events of all systems.
    public static let events = RowTable<EventRow>(
        "events", aRowForEach: "event in a record of any system", key: ["record", "n"],
        indexes: [["client"], ["client_key"], ["time_ms"], ["at_ms"], ["type"], ["name"]],
        [
            .record, .number("the index of the event in its record, from 0"),
            .cell("system", .text, "the telemetry system of the record", isRequired: true) { $0.record.system },
            .cell("type", .text, "the type of the record", isRequired: true) { $0.record.type },
            .cell("client", .text, "the id of the client of the record") { $0.record.client },
            .cell("client_key", .text, "`client` with its ASCII letters in lowercase") { $0.record.clientKey },
            .cell("user_id", .text, "the id of the user, if the event contains it") { $0.event.userID },
            .cell("time", .time, "the time that `time_basis` specifies: RFC 3339, UTC, with milliseconds") {
                $0.time.text
            },
            .cell("time_ms", .integer, "`time` in milliseconds since 1970-01-01, UTC") { $0.time.milliseconds },
            .cell("day", .text, "the UTC day of `time`, as `YYYY-MM-DD`") { $0.time.text.dayOfTime },
            .cell("clock", .text, ClockState.columnMeaning(of: "time")) { $0.time.clock },
            .cell(
                "time_basis", .text,
                "the source of `time`: `event` is the time of the event; `record` is the time of the record; "
                    + "`earlier-run` is the time of the record, with `elapsed_ms` measured from the start of an earlier "
                    + "process",
                isRequired: true
            ) { $0.time.basis },
            .cell(
                "at", .time,
                "the best known time of the event, whose source is `at_basis`: RFC 3339, UTC, with milliseconds"
            ) { $0.best.text },
            .cell("at_ms", .integer, "`at` in milliseconds since 1970-01-01, UTC") { $0.best.milliseconds },
            .cell("at_day", .text, "the UTC day of `at`, as `YYYY-MM-DD`") { $0.best.text.dayOfTime },
            .cell("at_clock", .text, "as `clock`, but for `at`") { $0.best.clock },
            .cell(
                "at_basis", .text,
                "the source of `at`: `event` is a time in the event; `process-start` is the start of the app's process plus "
                    + "`elapsed_ms`; `ping-start` is the start of the ping's time span plus `elapsed_ms`; `record` and "
                    + "`earlier-run` are as in `time_basis`, because no better time is known",
                isRequired: true
            ) { $0.best.basis },
            .cell(
                "elapsed_ms", .integer,
                "the stored time of the event in milliseconds, on the clock that the format document of its system "
                    + "defines; the nanoseconds of Glean before 36.0 on iOS are converted and rounded down"
            ) { $0.event.elapsed },
            .cell("name", .text, "the name of the event") { $0.event.name },
            .cell("category", .text, "the category of the event") { $0.event.category },
            .cell("method", .text, "the kind of action, such as `click`") { $0.event.method },
            .cell("object", .text, "the user interface element or subject of the action") { $0.event.object },
            .cell("value", .text, "the value of the event, as stored") { $0.event.value },
            .cell(
                "revenue", .real,
                "the amount of money, in units of `currency`: the revenue of Adjust, or the value of a Leanplum event "
                    + "with a currency"
            ) { $0.event.revenue },
            .cell("currency", .text, "the code of the currency of `revenue`, such as `EUR`, if it is stored") {
                $0.event.currency
            },
            .cell(
                "session_duration", .integer,
                "the duration of a session of Activity Stream in milliseconds, as stored; a number of 10¹² or more is a "
                    + "time since 1970-01-01, because the start of the session was not recorded"
            ) { $0.event.sessionDuration },
            .cell(
                "extra", .json,
                "all other data of the event; for Leanplum, the parameters of the event, and in the member `request` all "
                    + "other members of the request"
            ) { $0.event.extra },
            .cell("label", .text, "the documented meaning of the event") { $0.label },
        ])
}

// MARK: - The table of attributes

/// The kind of an attribute, with its name in the table of attributes as the raw value.
public enum AttributeKind: String, Sendable {
    /// A property that the app assigned to the user.
    case user
    /// A property that the SDK assigned to the device.
    case device
    /// A parameter that the server passes to the operator of the app.
    case callback
    /// A parameter that the server passes to partners of the operator.
    case partner
}

/// The cells of a row in the table of attributes.
public struct AttributeRow: Sendable {
    let event: Int
    let kind, key, value, type, label: Cell
}

extension RecordRows {
    /// The table of the attributes of users and devices, and of the parameters of events, whose names an app chooses.
    public static let attributes = RowTable<AttributeRow>(
        ofRecords: "attributes",
        aRowForEach: "user attribute or device attribute of Leanplum, and callback or partner parameter of Adjust",
        indexes: [["key"]],
        [
            .integer("event", "the number `n` of the event in the table `events`") { $0.event },
            .cell(
                "kind", .text, "the kind of attribute: `user`, `device`, `callback` or `partner`", isRequired: true
            ) { $0.kind },
            .cell("key", .text, "the name of the attribute", isRequired: true) { $0.key },
            .cell("value", .text, "the value: a string as it is, any other value as JSON; NULL for `null`") {
                $0.value
            },
            .cell(
                "value_type", .text,
                "the type of the value in JSON: `string`, `number`, `boolean`, `null`, `array` or `object`",
                isRequired: true
            ) { $0.type },
            .cell("label", .text, "the documented meaning of the attribute") { $0.label },
        ])

    /// Adds an attribute of the event that is added next.
    ///
    /// `label` is the documented meaning of the attribute.
    public mutating func add(
        _ attribute: JSONMember, of document: JSONDocument, kind: AttributeKind, label: String? = nil
    ) {
        guard buffer.index(of: Self.attributes.table) != nil else { return }
        let row = AttributeRow(
            event: eventCount, kind: buffer.keep(kind.rawValue), key: buffer.keep(string: attribute.key, of: document),
            value: buffer.keep(value: attribute.value, of: document),
            type: buffer.keep(Self.typeName(of: document.kind(of: attribute.value))), label: buffer.keep(label))
        add(row, number: attributeCount, to: Self.attributes)
        attributeCount += 1
    }

    /// Adds the members of `object` as attributes of the event that is added next.
    ///
    /// If `object` is not an object, nothing is added.
    public mutating func add(attributesIn object: JSONNode, of document: JSONDocument, kind: AttributeKind) {
        for member in document.members(of: object) { add(member, of: document, kind: kind) }
    }

    private static func typeName(of kind: JSONKind) -> String {
        switch kind {
        case .null, .removed: "null"
        case .true, .false: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension ClockState {
    /// Returns the meaning of a column with the state of the clock of the column `time`.
    public static func columnMeaning(of time: String) -> String {
        "`plausible`, `before-app` if `\(time)` is before the first year of the system, or `future` if it is in 2038 or "
            + "later; NULL without a time"
    }
}
