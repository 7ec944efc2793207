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
    /// The events have the same order as in ``Vocabulary/labels(of:type:nested:)``. `nested` is reusable memory for
    /// JSON in strings.
    ///
    /// - Returns: The properties of the device that the payload contains.
    func addRows(
        of payload: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells
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
    /// The selection of event data for the column `extra`.
    public let extraContents: ExtraContents
    private let eventTable: Int
    private var record = SharedCells()
    private var labels: [String?] = []
    private var basisNames = BasisNames()

    /// The cells that contain the names of the ``TimeBasis`` and ``TimeAnchor`` cases.
    private struct BasisNames: Sendable {
        var record = Cell.null
        var event = Cell.null
        var earlierRun = Cell.null
        var processStart = Cell.null
        var pingStart = Cell.null

        init() {}

        init(in buffer: inout RowBuffer) {
            record = buffer.keep("record")
            event = buffer.keep("event")
            earlierRun = buffer.keep("earlier-run")
            processStart = buffer.keep("process-start")
            pingStart = buffer.keep("ping-start")
        }

        func name(of anchor: TimeAnchor) -> Cell {
            switch anchor {
            case .event: event
            case .processStart: processStart
            case .pingStart: pingStart
            }
        }
    }

    /// An instant as a string and in milliseconds since 1970, and the name of its origin.
    private typealias TimeCells = (text: Cell, milliseconds: Cell, basis: Cell)

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
        /// The time of the record as a string.
        public var time = Cell.null
        /// The time of the record in milliseconds since 1970.
        public var milliseconds = Cell.null
        /// Whether the times in the payload are rounded.
        ///
        /// If so, an elapsed time is not added to the start of a process or ping.
        public var hasRoundedTimes = false

        /// Creates cells without values.
        public init() {}
    }

    /// Creates an empty collection of rows for the given tables.
    ///
    /// `eventTable` is the index of the table of events in `tables`.
    public init(_ tables: [Table], eventTable: Int, extraContents: ExtraContents = .remainingData) {
        buffer = RowBuffer(tables)
        self.extraContents = extraContents
        self.eventTable = eventTable
        removeAll()
    }

    /// Removes all rows, but keeps their memory for reuse.
    public mutating func removeAll() {
        buffer.removeAll()
        basisNames = BasisNames(in: &buffer)
    }

    /// Starts the next record, to which the rows that are added afterwards belong.
    ///
    /// `labels` contains the meaning of each event of the record.
    public mutating func begin(_ record: SharedCells, labels: [String?]) {
        self.record = record
        self.labels = labels
        eventCount = 0
    }

    /// Adds a row for `event` to the rows of the current record.
    public mutating func add(_ event: EventCells) {
        let (time, best) = timeCells(of: event.basis)
        let label = eventCount < labels.count ? buffer.keep(labels[eventCount]) : .null
        buffer.withCells(of: eventTable) { cells in
            cells.append(record.number)
            cells.append(.integer(Int64(eventCount)))
            cells.append(record.system)
            cells.append(record.type)
            cells.append(record.client)
            cells.append(event.userID)
            for time in [time, best] {
                cells.append(time.text)
                cells.append(time.milliseconds)
                cells.append(time.basis)
            }
            cells.append(event.elapsed)
            cells.append(event.name)
            cells.append(event.category)
            cells.append(event.method)
            cells.append(event.object)
            cells.append(event.value)
            cells.append(event.extra)
            cells.append(label)
        }
        eventCount += 1
    }

    /// Returns the time for the column `time` of an event, and the best known time for its column `at`.
    private mutating func timeCells(of basis: TimeBasis) -> (time: TimeCells, best: TimeCells) {
        let ofRecord = (record.time, record.milliseconds, basisNames.record)
        switch basis {
        case .record: return (ofRecord, ofRecord)
        case .earlierRun:
            let earlier = (record.time, record.milliseconds, basisNames.earlierRun)
            return (earlier, earlier)
        case .event(let own):
            let cells = (buffer.keep(own), Cell.integer(own.milliseconds), basisNames.event)
            // An implausible time was stored in another unit, or by a phone with a wrong clock.
            return (cells, own.isPlausible ? cells : ofRecord)
        case .known(_, .processStart) where record.hasRoundedTimes, .known(_, .pingStart) where record.hasRoundedTimes:
            return (ofRecord, ofRecord)
        case .known(let time, let anchor):
            return (ofRecord, (buffer.keep(time), .integer(time.milliseconds), basisNames.name(of: anchor)))
        }
    }

    /// Adds rows of the current record to the table called `table`, and numbers them from 0.
    ///
    /// The number of the record and the number of the row are inserted before each row in `rows`. If there is no such
    /// table, nothing is added.
    public mutating func add(_ rows: [[Cell]], to table: String) {
        guard let place = buffer.index(ofTable: table) else { return }
        for (number, row) in rows.enumerated() {
            buffer.add([record.number, .integer(Int64(number))] + row, to: place)
        }
    }

    /// Adds a row of the current record to the table called `table`, without numbering it within the record.
    ///
    /// The number of the record is inserted before `row`. If there is no such table, nothing is added.
    public mutating func add(only row: [Cell], to table: String) {
        guard let place = buffer.index(ofTable: table) else { return }
        buffer.add([record.number] + row, to: place)
    }
}
