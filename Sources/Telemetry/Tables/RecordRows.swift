import JSONText

/// What stands in the row of an event: all that the record does not say already.
public struct EventCells: Sendable {
    /// Which instant the event's time is.
    public var basis = TimeBasis.record
    /// Milliseconds on the clock that the system's document tells.
    public var elapsed = Cell.null
    /// The name.
    public var name = Cell.null
    /// The category.
    public var category = Cell.null
    /// The method.
    public var method = Cell.null
    /// The object.
    public var object = Cell.null
    /// The value.
    public var value = Cell.null
    /// What else there is, as JSON.
    public var extra = Cell.null

    /// An event of which nothing is known.
    public init() {}
}

/// Which instant the time of an event is.
public enum TimeBasis: Sendable {
    /// That of its record; ``EventCells/elapsed`` is the event's own number.
    case record
    /// The event's own.
    case event(Timestamp)
    /// That of its record, but ``EventCells/elapsed`` counts from the start of an earlier process, which is not known.
    case earlierRun
}

/// What the payload of a record tells of the phone.
public struct DeviceCells: Sendable {
    /// The name of the operating system.
    public var os = Cell.null
    /// Its version.
    public var osVersion = Cell.null
    /// The model.
    public var device = Cell.null
    /// The locale.
    public var locale = Cell.null

    /// Puts together what is known.
    public init(os: Cell = .null, osVersion: Cell = .null, device: Cell = .null, locale: Cell = .null) {
        self.os = os
        self.osVersion = osVersion
        self.device = device
        self.locale = locale
    }
}

/// A payload whose rows are made.
public struct RecordPayload {
    /// The payload is its root.
    public let document: JSONDocument
    /// The type of the record.
    public let type: String

    /// Puts a payload and the type of its record together.
    public init(_ document: JSONDocument, type: String) {
        self.document = document
        self.type = type
    }
}

/// How the payloads of a system become rows.
///
/// Source: "Exports", section 1.
public protocol RowFormat: Sendable {
    /// The tables that this system alone has rows for.
    var tables: [Table] { get }

    /// Adds a row for each event of a payload, in the order of ``Vocabulary/labels(of:type:nested:)``, and those of the tables of
    /// the system.
    /// - Parameters:
    ///   - payload: the payload of a record of the system.
    ///   - rows: takes the rows.
    ///   - nested: memory to read JSON with that stands in texts of the payload.
    /// - Returns: what the payload tells of the phone.
    func addRows(of payload: RecordPayload, to rows: inout RecordRows, nested: inout JSONDocument) -> DeviceCells
}

/// Takes the rows that a system makes of one record after another.
public struct RecordRows: Sendable {
    /// The rows, and the texts of their cells.
    public var buffer: RowBuffer
    /// How many events the record has so far.
    public private(set) var eventCount = 0
    private let eventTable: Int
    private var record = SharedCells()
    private var labels: [String?] = []
    /// The texts of each ``TimeBasis``.
    private var (ofRecord, ofEvent, ofEarlierRun) = (Cell.null, Cell.null, Cell.null)

    /// What all events of a record have in common.
    public struct SharedCells: Sendable {
        /// Its number.
        public var number = Cell.null
        /// Its system.
        public var system = Cell.null
        /// Its type.
        public var type = Cell.null
        /// Its client.
        public var client = Cell.null
        /// Its time as text.
        public var time = Cell.null
        /// Its time in milliseconds since 1970.
        public var milliseconds = Cell.null

        /// Nothing is known.
        public init() {}
    }

    /// Begins without rows.
    /// - Parameters:
    ///   - tables: those that rows are for.
    ///   - eventTable: the place of the events among them.
    public init(_ tables: [Table], eventTable: Int) {
        buffer = RowBuffer(tables)
        self.eventTable = eventTable
        removeAll()
    }

    /// Forgets the rows, and keeps their memory.
    public mutating func removeAll() {
        buffer.removeAll()
        (ofRecord, ofEvent, ofEarlierRun) = (buffer.keep("record"), buffer.keep("event"), buffer.keep("earlier-run"))
    }

    /// Goes on to the next record.
    /// - Parameter labels: the meanings of its events.
    public mutating func begin(_ record: SharedCells, labels: [String?]) {
        self.record = record
        self.labels = labels
        eventCount = 0
    }

    /// Adds an event of the record.
    public mutating func add(_ event: EventCells) {
        let (time, milliseconds, basis): (Cell, Cell, Cell)
        switch event.basis {
        case .record: (time, milliseconds, basis) = (record.time, record.milliseconds, ofRecord)
        case .earlierRun: (time, milliseconds, basis) = (record.time, record.milliseconds, ofEarlierRun)
        case .event(let own):
            (time, milliseconds, basis) = (buffer.keep(own), .integer(own.milliseconds), ofEvent)
        }
        let label = eventCount < labels.count ? buffer.keep(labels[eventCount]) : .null
        buffer.withCells(of: eventTable) { cells in
            cells.append(record.number)
            cells.append(.integer(Int64(eventCount)))
            cells.append(record.system)
            cells.append(record.type)
            cells.append(record.client)
            cells.append(time)
            cells.append(milliseconds)
            cells.append(basis)
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

    /// Adds rows to a table that ``Table/init(ofRecords:aRowForEach:_:)`` declared, numbered from 0.
    /// - Parameter rows: for each row its cells behind the number of the row.
    public mutating func add(_ rows: [[Cell]], to table: String) {
        guard let place = buffer.place(ofTable: table) else { return }
        for (number, row) in rows.enumerated() {
            buffer.add([record.number, .integer(Int64(number))] + row, to: place)
        }
    }

    /// Adds the only row that the record has in a table whose first column is `record`.
    public mutating func add(only row: [Cell], to table: String) {
        guard let place = buffer.place(ofTable: table) else { return }
        buffer.add([record.number] + row, to: place)
    }
}
