import JSONText
import Telemetry

/// The conversion of the events and the metrics of pings to table rows.
///
/// Source: "Exports", section 1; "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and
/// 6.
struct GleanRows: RowFormat {
    let tables = [Self.metrics.table, Self.definitions.table]
    /// The definitions of metrics, which determine their units and descriptions.
    let definitions: GleanDefinitions

    func addSharedRows(to buffer: inout RowBuffer) {
        for definition in definitions.sorted { buffer.add(definition, to: Self.definitions, at: RowPlace(number: 0)) }
    }

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        if let metrics = document.value(of: GleanKeys.metrics, in: document.root) {
            let metricRows = MetricRows(definitions).rows(of: metrics, in: document, &rows.buffer)
            rows.add(rows: metricRows, to: Self.metrics)
        }
        if let events = document.array(GleanKeys.events, in: document.root) {
            let clock = EventClock(document)
            document.forEachElement(of: events) { event in
                var cells = Self.cells(of: event, in: document, &rows.buffer)
                let timestamp = document.value(of: GleanKeys.timestamp, in: event)
                cells.elapsed = clock.milliseconds(of: rows.buffer.keep(integer: timestamp, of: document))
                cells.basis = Self.timeBasis(of: event, in: document, elapsed: cells.elapsed, clock)
                rows.add(cells)
            }
        }
        guard let info = document.value(of: GleanKeys.clientInfo, in: document.root) else { return DeviceCells() }
        func cell(_ key: JSONKey) -> Cell {
            rows.buffer.keep(string: document.value(of: key, in: info), of: document)
        }
        return DeviceCells(
            os: cell(GleanKeys.os), osVersion: cell(GleanKeys.osVersion), device: cell(GleanKeys.deviceModel),
            locale: cell(GleanKeys.locale))
    }

    private static func cells(of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer) -> EventCells {
        var cells = EventCells()
        let category = document.value(of: GleanKeys.category, .string, in: event)
        let name = document.value(of: GleanKeys.name, .string, in: event)
        if let category, let name {
            let joined = buffer.keep(joined: category, name, nil, of: document)
            (cells.name, cells.category) = (joined.whole, joined.first)
        } else {
            cells.category = buffer.keep(string: category, of: document)
        }
        cells.extra = buffer.keep(json: document.value(of: GleanKeys.extra, in: event), of: document)
        return cells
    }

    /// Returns the time of an event according to the clock of the phone, or relative to the start of the ping.
    ///
    /// Some events contain a monotonic time in place of a clock time. Such a time appears as a date in the 1970s and is
    /// ignored. The elapsed time of a pending event is not relative to the start of a ping, so the event gets the time
    /// of the record. A pending event has an execution counter, or its record has no start time.
    ///
    /// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 6.
    private static func timeBasis(
        of event: JSONNode, in document: JSONDocument, elapsed: Cell, _ clock: EventClock
    ) -> TimeBasis {
        if let extra = document.value(of: GleanKeys.extra, in: event),
            let text = document.value(of: GleanKeys.clockTime, .string, in: extra),
            let time = Timestamp(decimalMilliseconds: document.bytes(of: text)), time.isPlausible
        {
            return .known(time, from: .event)
        }
        guard document.value(of: GleanKeys.executionCounter, .number, in: event) == nil else { return .record }
        return TimeBasis(clock.pingStart, .pingStart, elapsed: elapsed) ?? .record
    }
}

/// The clock of the events in a ping, which counts from the start of the time span of the ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 2 and 8.1.
private struct EventClock {
    /// The start of the ping in milliseconds since 1970, or NULL if it is missing, invalid or less precise than a minute.
    let pingStart: Cell
    /// The number of units per millisecond in the timestamps of events.
    private let unitsPerMillisecond: Int64

    init(_ document: JSONDocument) {
        pingStart = Self.start(of: document).map { .integer($0.milliseconds) } ?? .null
        unitsPerMillisecond = Self.hasNanoseconds(document) ? 1_000_000 : 1
    }

    private static func start(of document: JSONDocument) -> Timestamp? {
        guard let info = document.value(of: GleanKeys.pingInfo, in: document.root),
            let text = document.value(of: GleanKeys.startTime, .string, in: info),
            PingTime.hasMinutes(document.bytes(of: text))
        else { return nil }
        return PingTime.timestamp(from: document.bytes(of: text))
    }

    /// Returns a timestamp of an event in milliseconds, rounded down.
    func milliseconds(of timestamp: Cell) -> Cell {
        guard case .integer(let units) = timestamp, unitsPerMillisecond > 1 else { return timestamp }
        let (quotient, remainder) = units.quotientAndRemainder(dividingBy: unitsPerMillisecond)
        return .integer(remainder < 0 ? quotient - 1 : quotient)
    }

    /// Returns whether the timestamps of the events are in nanoseconds.
    private static func hasNanoseconds(_ document: JSONDocument) -> Bool {
        guard let client = document.value(of: GleanKeys.clientInfo, in: document.root),
            document.text(GleanKeys.os, in: client) == "iOS", let major = GleanSDKVersion.major(in: document)
        else { return false }
        return major < GleanSDKVersion.firstWithMilliseconds
    }
}
