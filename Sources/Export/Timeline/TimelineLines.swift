import JSONText
import Telemetry

/// Lines of a timeline, each with its instant, in the order of records.
struct TimelineLines: Sendable {
    /// A line.
    struct Line: Sendable {
        /// In milliseconds since 1970.
        let time: Int64
        /// Its bytes without a line feed.
        let bytes: Range<Int>
    }

    /// The bytes of all lines.
    fileprivate(set) var text = TextBuffer()
    fileprivate(set) var lines: [Line] = []
    /// How many rows have no time.
    fileprivate(set) var timeless = 0
}

/// Writes rows as Timesketch imports them: an object for each event, and one for each record without events.
///
/// Source: "Exports", section 2.
struct TimelineWriter {
    private let rows: RowBuffer
    private let records: Rows
    private var holds: Rows
    private var notes: Rows
    private var events: Rows
    private var output = TimelineLines()

    /// JSON of an event is cut at this many bytes.
    private static let extraLimit = 32_000

    /// The cells of a table.
    private struct Rows {
        let cells: [Cell]
        let columns: [String: Int]
        /// The first row that was not looked at.
        var next = 0

        init(_ table: Table, in rows: RowBuffer) {
            cells = rows.place(ofTable: table.name).map { rows.cells[$0] } ?? []
            columns = Dictionary(uniqueKeysWithValues: zip(table.columns.map(\.name), 0...))
        }

        var count: Int { cells.count / columns.count }

        subscript(row: Int, column: String) -> Cell { cells[row * columns.count + (columns[column] ?? 0)] }

        /// Takes the next rows that belong to a record.
        mutating func take(of record: Cell) -> Range<Int> {
            let start = next
            while next < count, self[next, TableColumn.record.name] == record { next += 1 }
            return start..<next
        }
    }

    private init(_ rows: RowBuffer) {
        self.rows = rows
        records = Rows(ExportTables.records, in: rows)
        holds = Rows(ExportTables.holds, in: rows)
        notes = Rows(ExportTables.notes, in: rows)
        events = Rows(ExportTables.events, in: rows)
    }

    /// The lines of some rows.
    static func lines(of rows: RowBuffer) -> TimelineLines {
        var writer = TimelineWriter(rows)
        for record in 0..<writer.records.count { writer.add(record) }
        return writer.output
    }

    private mutating func add(_ record: Int) {
        let number = records[record, "record"]
        let held = holds.take(of: number)
        let common = common(record, holds: held, isNoted: !notes.take(of: number).isEmpty)
        let events = events.take(of: number)
        guard !events.isEmpty else { return addLine(of: record, common) }
        for event in events { addLine(ofEvent: event, common) }
    }

    /// What all lines of a record have in common, in the order of their keys.
    private struct Common {
        var system: String
        var type: String
        /// The members from `app` to `client`, from `held` to `path`, and `record_id`.
        var pairs: [(key: String, value: String)]
        var tags: [String]
    }

    private mutating func common(_ record: Int, holds held: Range<Int>, isNoted: Bool) -> Common {
        let codes = held.map { string(holds[$0, "code"]) ?? "" }
        let pairs: [(key: String, value: String?)] = [
            ("app", string(records[record, "app_name"]) ?? string(records[record, "app_id"])),
            ("capture", string(records[record, "capture"])), ("client", string(records[record, "client"])),
            ("device", string(records[record, "device"])),
            ("held", codes.isEmpty ? nil : codes.joined(separator: ",")), ("path", string(records[record, "path"])),
            ("record_id", string(records[record, "id"])),
        ]
        return Common(
            system: string(records[record, "system"]) ?? "", type: string(records[record, "type"]) ?? "",
            pairs: pairs.compactMap { pair in pair.value.map { (pair.key, $0) } },
            tags: (codes.isEmpty ? [] : ["held"]) + (isNoted ? ["normalized"] : []))
    }

    private mutating func addLine(of record: Int, _ common: Common) {
        addLine(time: records[record, "time_ms"], name: nil, label: nil, isOwn: false, extra: .null, common)
    }

    private mutating func addLine(ofEvent event: Int, _ common: Common) {
        addLine(
            time: events[event, "time_ms"], name: string(events[event, "name"]), label: string(events[event, "label"]),
            isOwn: string(events[event, "time_basis"]) == "event", extra: events[event, "extra"], common)
    }

    private mutating func addLine(
        time: Cell, name: String?, label: String?, isOwn: Bool, extra: Cell, _ common: Common
    ) {
        guard case .integer(let milliseconds) = time, let instant = Timestamp(inAnyYear: milliseconds) else {
            output.timeless += 1
            return
        }
        let what = "\(common.system) \(common.type)"
        var members = common.pairs
        members.append(("data_type", "pingferry:\(common.system):\(common.type)"))
        // `2018-05-24T12:00:08.418000+00:00` of `2018-05-24T12:00:08.418Z`.
        members.append(("datetime", "\(instant.description.dropLast())000+00:00"))
        if let extra = cutText(extra) { members.append(("extra", extra)) }
        members.append(("message", label ?? name ?? what))
        if let name { members.append(("name", name)) }
        members.append(("system", common.system))
        members.append(("timestamp_desc", isOwn ? "Event recorded" : "Ping queued"))
        members.append(("type", common.type))
        write(members, tags: common.tags, microseconds: milliseconds * 1000, at: milliseconds)
    }

    private mutating func write(
        _ members: [(key: String, value: String)], tags: [String], microseconds: Int64, at time: Int64
    ) {
        let start = output.text.count
        output.text.append(UInt8(ascii: "{"))
        for (key, value) in members {
            if output.text.count > start + 1 { output.text.append(UInt8(ascii: ",")) }
            output.text.append(jsonString: key.utf8.span)
            output.text.append(UInt8(ascii: ":"))
            output.text.append(jsonString: value.utf8.span)
        }
        output.text.append(copying: ",\"tag\":[".utf8.span)
        for (place, tag) in tags.enumerated() {
            if place > 0 { output.text.append(UInt8(ascii: ",")) }
            output.text.append(jsonString: tag.utf8.span)
        }
        output.text.append(copying: "],\"timestamp\":\(microseconds)}".utf8.span)
        output.lines.append(TimelineLines.Line(time: time, bytes: start..<output.text.count))
    }

    private func string(_ cell: Cell) -> String? {
        guard case .text(let start, let count) = cell else { return nil }
        return String(decoding: rows.bytes(start, count), as: UTF8.self)
    }

    /// A text, cut where it is too long, but not within a character.
    private func cutText(_ cell: Cell) -> String? {
        guard case .text(let start, let count) = cell else { return nil }
        let bytes = rows.bytes(start, count)
        guard bytes.count > Self.extraLimit else { return String(decoding: bytes, as: UTF8.self) }
        var end = bytes.startIndex + Self.extraLimit
        while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}
