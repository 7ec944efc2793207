import JSONText
import Telemetry

/// The conversion of the events and the metrics of pings to table rows.
///
/// Source: "Exports", section 1; "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and
/// 6.
struct GleanRows: RowFormat {
    let tables = [Self.metrics.table]

    /// The cells of a row in the table `metrics`.
    private struct MetricRow {
        var type = Cell.null
        var name = Cell.null
        var label = Cell.null
        var value = Cell.null
    }

    private static let metrics = RowTable<MetricRow>(
        ofRecords: "metrics", aRowForEach: "metric of a Glean ping, and for each label of a labeled metric",
        indexes: [["name"]],
        [
            .cell(
                "metric_type", .text, "the type of the metric, such as `counter` or `labeled_counter`", isRequired: true
            ) { $0.type },
            .cell("name", .text, "the category and the name of the metric, separated by a dot") { $0.name },
            .cell("label", .text, "the label, if the metric is labeled") { $0.label },
            .cell("value", .text, "the value in the ping: a string as it is, any other value as JSON") { $0.value },
        ])

    /// The substring that the names of all labeled metric types contain.
    private static let labeledMarker = "labeled_"

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        if let metrics = document.value(of: GleanKeys.metrics, in: document.root) {
            rows.add(rows: Self.metricRows(metrics, of: document, &rows.buffer), to: Self.metrics)
        }
        if let events = document.array(GleanKeys.events, in: document.root) {
            let clock = EventClock(document)
            var event = document.firstElement(of: events)
            while let current = event {
                var cells = Self.cells(of: current, in: document, &rows.buffer)
                let timestamp = document.value(of: GleanKeys.timestamp, in: current)
                cells.elapsed = clock.milliseconds(of: rows.buffer.keep(integer: timestamp, of: document))
                cells.basis = Self.timeBasis(of: current, in: document, elapsed: cells.elapsed, clock)
                rows.add(cells)
                event = document.element(after: current, of: events)
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

    /// Returns a row for each metric, or for each label of a labeled metric.
    ///
    /// A metric type whose value is not an object gets a single row.
    private static func metricRows(
        _ metrics: JSONNode, of document: JSONDocument, _ buffer: inout RowBuffer
    ) -> [MetricRow] {
        var found: [MetricRow] = []
        document.forEachMember(of: metrics) { type in
            var row = MetricRow(type: buffer.keep(string: type.key, of: document))
            guard document.kind(of: type.value) == .object else {
                row.value = buffer.keep(value: type.value, of: document)
                return found.append(row)
            }
            let isLabeled = document.string(of: type.key).contains(labeledMarker)
            document.forEachMember(of: type.value) { metric in
                row.name = buffer.keep(string: metric.key, of: document)
                row.label = .null
                guard isLabeled, document.memberCount(of: metric.value) > 0 else {
                    row.value = buffer.keep(value: metric.value, of: document)
                    return found.append(row)
                }
                document.forEachMember(of: metric.value) { label in
                    row.label = buffer.keep(string: label.key, of: document)
                    row.value = buffer.keep(value: label.value, of: document)
                    found.append(row)
                }
            }
        }
        return found
    }
}

extension JSONDocument {
    /// Calls `body` with each member of `object` in canonical order, or does nothing if `object` is not an object.
    fileprivate func forEachMember(of object: JSONNode, _ body: (JSONMember) -> Void) {
        for index in 0..<memberCount(of: object) { body(member(at: index, of: object)) }
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
