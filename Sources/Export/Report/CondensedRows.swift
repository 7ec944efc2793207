import Telemetry

/// The records of a batch and their events, condensed for a report.
///
/// A report only counts records and events. Similar ones are counted here, on all cores, because inserting and querying
/// a row for each of them would take most of the time.
struct CondensedRows {
    /// Consecutive records that differ only in their times, which are on the same day.
    struct RecordRun {
        /// The cells of the first record, but the time of the latest one.
        var cells: [Cell]
        /// The number of records.
        var count = 1
    }

    /// Events that are counted together.
    struct Events {
        /// The position of the first event.
        let first: RowPlace
        /// The cells of the first event.
        let time, name, label: Cell
        /// The number of events.
        var count = 1
    }

    /// The columns of records that are read, in the order of their table.
    static let recordColumns =
        "record system type client time_ms app_id app_name app_version os os_version device locale_normalized uploadable"
    /// The columns of events that are read, in the order of their table.
    static let eventColumns = "record n at_ms name label"

    private enum RecordColumn: Int, CaseIterable {
        case record, system, type, client, time, appID, appName, appVersion, os, osVersion, device, locale, isUploadable
    }
    private enum EventColumn: Int, CaseIterable { case record, index, time, name, label }

    /// The table of runs of records, which has the columns of records.
    static let recordRuns: RowTable<RecordRun> = {
        let records = ExportTables.records.table.keeping(columns: recordColumns.split(separator: " ").map(String.init))
        let columns: [Column<RecordRun>] = records.columns.enumerated().map { index, column in
            .cell(column.name, column.kind, column.meaning, isRequired: column.isRequired) { $0.cells[index] }
        }
        return RowTable(
            "record_runs", aRowForEach: "run of records that differ only in their times", key: records.key,
            columns + [.integer("count", "the number of records") { $0.count }])
    }()
    /// The table of the events of each record, which are divided where the day changes.
    static let eventDays = RowTable<Events>(
        ofRecords: "event_days", aRowForEach: "run of events of a record on the same day",
        [
            .cell("at_ms", .integer, "the time of the first event in milliseconds since 1970-01-01, UTC") { $0.time },
            .integer("count", "the number of events") { $0.count },
        ])
    /// The table of the kinds of events in consecutive records that differ only in their times.
    static let eventKinds = RowTable<Events>(
        ofRecords: "event_kinds", aRowForEach: "name and label of events in consecutive similar records",
        [
            .cell("name", .text, "the name of the events") { $0.name },
            .cell("label", .text, "the documented meaning of the events") { $0.label },
            .integer("count", "the number of events") { $0.count },
        ])

    private var runs: [RecordRun] = []
    private var days: [Events] = []
    private var kinds: [Events] = []
    /// The distinct names and labels of events.
    private var strings = ValueDictionary()
    /// The indices in `kinds` for the names and labels of the events of similar records.
    private var kindIndices: [Kind: Int] = [:]

    private struct Kind: Hashable { let name, label: UInt32 }

    /// Replaces the rows of records and events in `buffer` with condensed rows.
    static func condense(_ buffer: inout RowBuffer) {
        let condensed = Self(buffer)
        for table in [ExportTables.records.table, RecordRows.events.table] { buffer.removeRows(of: table) }
        for run in condensed.runs { buffer.add(run, to: recordRuns, at: RowPlace(number: 0)) }
        for events in condensed.days { buffer.add(events, to: eventDays, at: events.first) }
        for events in condensed.kinds { buffer.add(events, to: eventKinds, at: events.first) }
    }

    private init(_ buffer: RowBuffer) {
        guard let recordTable = buffer.index(of: ExportTables.records.table),
            let eventTable = buffer.index(of: RecordRows.events.table)
        else { return }
        var records = RowReader<RecordColumn>(buffer.cells[recordTable])
        var events = RowReader<EventColumn>(buffer.cells[eventTable])
        while !records.isAtEnd {
            add(record: records.row, buffer)
            while events.isOf(records[.record]) {
                add(events, buffer)
                events.advance()
            }
            records.advance()
        }
    }

    private mutating func add(record: ArraySlice<Cell>, _ buffer: RowBuffer) {
        let time = RecordColumn.time.rawValue
        if let last = runs.indices.last, Self.areSimilar(runs[last].cells[...], record, buffer) {
            let (lastTime, newTime) = (runs[last].cells[time], record[record.startIndex + time])
            if Self.day(of: lastTime) == Self.day(of: newTime) {
                runs[last].count += 1
                if case (.integer(let latest), .integer(let new)) = (lastTime, newTime), new > latest {
                    runs[last].cells[time] = newTime
                }
                return
            }
        } else {
            kindIndices.removeAll(keepingCapacity: true)
        }
        runs.append(RecordRun(cells: Array(record)))
    }

    /// Returns whether two rows of records have the same cells except for their numbers and times.
    private static func areSimilar(_ left: ArraySlice<Cell>, _ right: ArraySlice<Cell>, _ buffer: RowBuffer) -> Bool {
        zip(left, right).enumerated().allSatisfy { column, cells in
            if column == RecordColumn.record.rawValue || column == RecordColumn.time.rawValue { return true }
            guard case (.text(let leftStart, let leftCount), .text(let rightStart, let rightCount)) = cells else {
                return cells.0 == cells.1
            }
            return buffer.bytes(leftStart, leftCount).span.equals(buffer.bytes(rightStart, rightCount).span)
        }
    }

    private mutating func add(_ event: RowReader<EventColumn>, _ buffer: RowBuffer) {
        guard case .integer(let index) = event[.index] else { return }
        let event = Events(
            first: RowPlace(record: event[.record], number: Int(index)), time: event[.time], name: event[.name],
            label: event[.label])
        if index > 0, let last = days.indices.last, Self.day(of: days[last].time) == Self.day(of: event.time) {
            days[last].count += 1
        } else {
            days.append(event)
        }
        let kind = number(of: event.name, buffer).flatMap { name in
            number(of: event.label, buffer).map { Kind(name: name, label: $0) }
        }
        if let kind, let known = kindIndices[kind] {
            kinds[known].count += 1
        } else {
            if let kind { kindIndices[kind] = kinds.count }
            kinds.append(event)
        }
    }

    /// Returns a number for the text of a cell, or `nil` if there are too many distinct texts.
    private mutating func number(of cell: Cell, _ buffer: RowBuffer) -> UInt32? {
        guard case .text(let start, let count) = cell else { return 0 }
        return strings.index(of: buffer.bytes(start, count).span).map { $0 + 1 }
    }

    /// Returns the day that contains a time in milliseconds, or `nil` if there is no time.
    private static func day(of time: Cell) -> Int64? {
        guard case .integer(let milliseconds) = time else { return nil }
        let day = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        return day.remainder < 0 ? day.quotient - 1 : day.quotient
    }
}
