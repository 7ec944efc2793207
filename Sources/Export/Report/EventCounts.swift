import Telemetry

/// The events of a batch of records as counts.
///
/// A report stores counts instead of a row for each event, because inserting and grouping these rows would take most of
/// its time.
struct EventCounts {
    /// Events that are counted together.
    struct Row {
        /// The position of the first event.
        let first: RowPlace
        /// The cells of the first event.
        let time, name, label: Cell
        /// The number of events.
        var count = 1
    }

    /// The table of the events of each record, which are counted by day.
    static let days = RowTable<Row>(
        ofRecords: "event_days", aRowForEach: "record and day of consecutive events",
        [
            .cell("at_ms", .integer, "the time of the first event in milliseconds since 1970-01-01, UTC") { $0.time },
            .integer("count", "the number of events") { $0.count },
        ])
    /// The table of the events of consecutive records of the same client and app, which are counted by name and label.
    static let kinds = RowTable<Row>(
        ofRecords: "event_kinds", aRowForEach: "name and label of events in consecutive records of a client",
        [
            .cell("name", .text, "the name of the events") { $0.name },
            .cell("label", .text, "the documented meaning of the events") { $0.label },
            .integer("count", "the number of events") { $0.count },
        ])

    /// The stored columns of the tables of records and events, in order.
    private enum RecordColumn: Int, CaseIterable {
        case record, system, type, client, time, appID, appName, appVersion, os, osVersion, device, locale, isUploadable
    }
    private enum EventColumn: Int, CaseIterable { case record, index, time, name, label }

    private struct Kind: Hashable { let name, label: UInt32 }

    private var days: [Row] = []
    private var kinds: [Row] = []

    /// Replaces the rows of events in a buffer with rows of their counts.
    static func replaceEvents(in rows: inout RowBuffer) {
        let counts = Self(rows)
        rows.removeRows(of: RecordRows.events.table)
        for row in counts.days { rows.add(row, to: days, at: row.first) }
        for row in counts.kinds { rows.add(row, to: kinds, at: row.first) }
    }

    private init(_ rows: RowBuffer) {
        guard let recordTable = rows.index(of: ExportTables.records.table),
            let eventTable = rows.index(of: RecordRows.events.table)
        else { return }
        var records = RowReader<RecordColumn>(rows.cells[recordTable])
        var events = RowReader<EventColumn>(rows.cells[eventTable])
        var strings = ValueDictionary()
        // Returns `nil` if there are too many different strings.
        func number(of cell: Cell) -> UInt32? {
            guard case .text(let start, let count) = cell else { return 0 }
            return strings.index(of: rows.bytes(start, count).span).map { $0 + 1 }
        }
        var owner: [UInt32?] = []
        // The indices, in `kinds`, of the kinds of the current owner.
        var indices: [Kind: Int] = [:]
        while !records.isAtEnd {
            let lastOwner = owner
            owner = [records[.system], records[.client], records[.appID], records[.appName]].map(number)
            if owner != lastOwner || owner.contains(nil) { indices.removeAll(keepingCapacity: true) }
            var index = 0
            while events.isOf(records[.record]) {
                let row = Row(
                    first: RowPlace(record: events[.record], number: index), time: events[.time], name: events[.name],
                    label: events[.label])
                if index > 0, let last = days.indices.last, Self.day(of: days[last].time) == Self.day(of: row.time) {
                    days[last].count += 1
                } else {
                    days.append(row)
                }
                let kind = number(of: row.name).flatMap { name in number(of: row.label).map { Kind(name: name, label: $0) } }
                if let kind, let known = indices[kind] {
                    kinds[known].count += 1
                } else {
                    if let kind { indices[kind] = kinds.count }
                    kinds.append(row)
                }
                index += 1
                events.advance()
            }
            records.advance()
        }
    }

    /// Returns the day of a time in milliseconds, or `nil` if the cell is null.
    private static func day(of time: Cell) -> Int64? {
        guard case .integer(let milliseconds) = time else { return nil }
        let day = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        return day.remainder < 0 ? day.quotient - 1 : day.quotient
    }
}
