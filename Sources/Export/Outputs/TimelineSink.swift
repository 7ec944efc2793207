import Bytes
import Files
import JSONText
import Telemetry

/// A destination of bytes, such as a file, a pipe, or the standard output.
public protocol StreamSink: AnyObject {
    /// The identities of the output files, which must not be read as input.
    var identities: Set<FileIdentity> { get }
    /// Appends bytes to the output.
    func write(_ bytes: Span<UInt8>) throws
    /// Completes the output and makes it visible.
    func commit() throws
}

/// A sink that writes the lines of a timeline in chronological order, in the format of Timesketch.
///
/// There is a line for each event, and one for each record without events. Lines with the same time are in the order of
/// their records and, within a record, in the order of its events. Rows without a time are only counted, and so are rows
/// with a time that readers of timelines cannot represent.
///
/// Lines are formatted on all cores and sorted in a spool, so that memory use does not depend on their number.
///
/// Source: "Exports", section 2.
final class TimelineSink: TableSink {
    private let output: any StreamSink
    private var sorter: LineSorter
    private(set) var untimedRowCount = 0
    let tables: [Table]
    let prepareRows: @Sendable (inout RowBuffer) -> TimedLines

    /// Creates a sink whose spool is on the disk of `spoolFolder`.
    init(_ output: any StreamSink, tables: ExportTables, spoolFolder: String) {
        self.output = output
        self.tables = tables.keeping(TimelineWriter.columns)
        let pool = ValuePool<_, Never>(keeping: 2 * Self.maxSpareCount) { TimedLines() }
        sorter = LineSorter(folder: spoolFolder) { if $0.text.capacity <= Self.maxSpareSize { pool.recycle($0) } }
        prepareRows = { rows in
            var lines = pool.take()
            lines.removeAll()
            var writer = TimelineWriter(rows)
            writer.writeLines(to: &lines)
            return lines
        }
    }

    var identities: Set<FileIdentity> { output.identities }

    var extraContents: ExtraContents { .allTables }

    func write(_ prepared: borrowing TimedLines) throws {
        untimedRowCount += prepared.untimedCount
        try sorter.add(copy prepared)
    }

    func commit() throws {
        try sorter.finish { try output.write($0) }
        try output.commit()
    }
}

/// A writer of the lines of a timeline for the rows of a buffer.
private struct TimelineWriter {
    /// The stored columns of each table.
    static let columns: KeyValuePairs = [
        "records": "record system type id client time time_ms app_id app_name device capture path",
        "holds": "record n code", "notes": "record n",
        "events": "record n at at_ms at_basis elapsed_ms name extra label",
    ]
    private enum RecordColumn: Int, CaseIterable {
        case record, system, type, id, client, time, milliseconds, appID, appName, device, capture, path
    }
    private enum HoldColumn: Int, CaseIterable { case record, index, code }
    private enum NoteColumn: Int, CaseIterable { case record, index }
    private enum EventColumn: Int, CaseIterable {
        case record, index, time, milliseconds, basis, elapsed, name, extra, label
    }

    /// The times, in milliseconds since 1970, that a signed 64-bit number of nanoseconds can represent.
    ///
    /// They end in the year 2262. Versions of pandas before 3 reject a timeline with any other time.
    private static let representableTimes = Int64.min / 1_000_000...Int64.max / 1_000_000
    /// The maximum size, in bytes, of the JSON in the member `extra` of a line.
    ///
    /// Longer JSON is truncated.
    private static let maxExtraSize = 32_000

    private let text: TextBuffer
    private var records: RowReader<RecordColumn>
    private var holds: RowReader<HoldColumn>
    private var notes: RowReader<NoteColumn>
    private var events: RowReader<EventColumn>
    /// The members that begin each line of the current record.
    private var start = TextBuffer()
    /// The member `tag` of each line of the current record.
    private var tag = Piece.noTags

    init(_ buffer: RowBuffer) {
        text = buffer.text
        records = RowReader(buffer.cells[0])
        holds = RowReader(buffer.cells[1])
        notes = RowReader(buffer.cells[2])
        events = RowReader(buffer.cells[3])
    }

    /// Writes the lines of all records.
    mutating func writeLines(to lines: inout TimedLines) {
        while !records.isAtEnd {
            let record = records[.record]
            beginRecord(record)
            if !events.isOf(record) {
                writeLine(at: records[.milliseconds], records[.time], Piece.queued, event: nil, to: &lines)
            }
            while events.isOf(record) {
                let description = hasOwnTime(events[.basis]) ? Piece.recorded : Piece.queued
                writeLine(at: events[.milliseconds], events[.time], description, event: events, to: &lines)
                events.advance()
            }
            records.advance()
        }
    }

    /// Returns whether `basis` is the basis of a time that is not that of the record.
    private func hasOwnTime(_ basis: Cell) -> Bool {
        let basis = span(of: basis)
        return !basis.equals("record") && !basis.equals("earlier-run")
    }

    /// Prepares the members that all lines of the current record have in common.
    private mutating func beginRecord(_ record: Cell) {
        let isHeld = holds.isOf(record)
        var codes: [UInt8] = []
        while holds.isOf(record) {
            codes.append(copying: span(of: holds[.code]))
            holds.advance()
            if holds.isOf(record) { codes.append(UInt8(ascii: ",")) }
        }
        tag =
            switch (isHeld, notes.isOf(record)) {
            case (false, false): Piece.noTags
            case (false, true): Piece.normalized
            case (true, false): Piece.held
            case (true, true): Piece.heldAndNormalized
            }
        while notes.isOf(record) { notes.advance() }
        start.removeAll()
        let app = records[.appName] == .null ? records[.appID] : records[.appName]
        append(Piece.app, app, to: &start)
        append(app == .null ? Piece.firstCapture : Piece.capture, records[.capture], to: &start)
        append(Piece.client, records[.client], to: &start)
        append(Piece.device, records[.device], to: &start)
        if isHeld {
            start.append(Piece.codes)
            start.append(jsonString: codes.span)
        }
        append(Piece.path, records[.path], to: &start)
        append(Piece.id, records[.id], to: &start)
        start.append(Piece.dataType)
        appendSystemAndType(after: "pingferry:", separator: UInt8(ascii: ":"), to: &start)
    }

    /// Writes a line for `event`, or for the current record if `event` is `nil`.
    private func writeLine(
        at milliseconds: Cell, _ time: Cell, _ description: ConstantText, event: RowReader<EventColumn>?,
        to lines: inout TimedLines
    ) {
        guard case .integer(let milliseconds) = milliseconds, Self.representableTimes.contains(milliseconds) else {
            lines.untimedCount += 1
            return
        }
        lines.append(at: milliseconds) { line in
            line.append(copying: start.span)
            // For example, `2018-05-24T12:00:08.418Z` becomes `2018-05-24T12:00:08.418000+00:00`.
            line.append(Piece.datetime)
            line.append(copying: span(of: time).extracting(first: 23))
            line.append(Piece.endOfDatetime)
            if case .text(let start, let count)? = event?[.extra] {
                let extra = text[start..<start + Int(count)].utf8Prefix(Self.maxExtraSize)
                line.append(Piece.extra)
                line.append(jsonString: extra.span)
            }
            let name = event?[.name] ?? .null
            let label = event?[.label] ?? .null
            var message = label == .null ? name : label
            // Timesketch requires a message.
            if case .text(_, 0) = message { message = .null }
            append(Piece.message, message, to: &line)
            if message == .null {
                line.append(Piece.message)
                appendSystemAndType(after: "", separator: UInt8(ascii: " "), to: &line)
            }
            append(Piece.name, name, to: &line)
            append(Piece.system, records[.system], to: &line)
            line.append(Piece.description)
            line.append(description)
            append(Piece.type, records[.type], to: &line)
            append(Piece.elapsed, event?[.elapsed] ?? .null, to: &line)
            append(Piece.index, event?[.index] ?? .null, to: &line)
            append(Piece.record, records[.record], to: &line)
            line.append(tag)
            append(Piece.timestamp, .integer(milliseconds * 1000), to: &line)
            line.append(Piece.end)
        }
    }

    /// Appends a key with the value of a cell, unless the cell is null.
    private func append(_ key: ConstantText, _ cell: Cell, to line: inout TextBuffer) {
        switch cell {
        case .null: return
        case .integer(let number):
            line.append(key)
            line.append(signedDecimal: number)
        case .text, .real:
            line.append(key)
            line.append(jsonString: span(of: cell))
        }
    }

    /// Appends a string that consists of `prefix`, the system and the type of the current record.
    private func appendSystemAndType(after prefix: String, separator: UInt8, to line: inout TextBuffer) {
        var string = Array(prefix.utf8)
        string.append(copying: span(of: records[.system]))
        string.append(separator)
        string.append(copying: span(of: records[.type]))
        line.append(jsonString: string.span)
    }

    /// Returns the bytes of a string, or no bytes for any other cell.
    @_lifetime(borrow self)
    private func span(of cell: Cell) -> Span<UInt8> {
        switch cell {
        case .null, .integer: text.span.extracting(0..<0)
        case .text(let start, let count), .real(let start, let count):
            text.span.extracting(start..<start + Int(count))
        }
    }

    /// The constant parts of lines.
    private enum Piece {
        static let app: ConstantText = "{\"app\":"
        static let firstCapture: ConstantText = "{\"capture\":"
        static let capture: ConstantText = ",\"capture\":"
        static let client: ConstantText = ",\"client\":"
        static let device: ConstantText = ",\"device\":"
        static let codes: ConstantText = ",\"held\":"
        static let path: ConstantText = ",\"path\":"
        static let id: ConstantText = ",\"record_id\":"
        static let dataType: ConstantText = ",\"data_type\":"
        static let datetime: ConstantText = ",\"datetime\":\""
        static let endOfDatetime: ConstantText = "000+00:00\""
        static let extra: ConstantText = ",\"extra\":"
        static let message: ConstantText = ",\"message\":"
        static let name: ConstantText = ",\"name\":"
        static let system: ConstantText = ",\"system\":"
        static let description: ConstantText = ",\"timestamp_desc\":"
        static let recorded: ConstantText = "\"Event recorded\""
        static let queued: ConstantText = "\"Ping queued\""
        static let type: ConstantText = ",\"type\":"
        static let elapsed: ConstantText = ",\"elapsed_ms\":"
        static let index: ConstantText = ",\"n\":"
        static let record: ConstantText = ",\"record\":"
        static let noTags: ConstantText = ",\"tag\":[]"
        static let held: ConstantText = ",\"tag\":[\"held\"]"
        static let normalized: ConstantText = ",\"tag\":[\"normalized\"]"
        static let heldAndNormalized: ConstantText = ",\"tag\":[\"held\",\"normalized\"]"
        static let timestamp: ConstantText = ",\"timestamp\":"
        static let end: ConstantText = "}\n"
    }
}
