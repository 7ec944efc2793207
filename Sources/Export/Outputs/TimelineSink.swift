import Files
import JSONText
import SQLite
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

/// A sink that writes the lines of a timeline in chronological order.
///
/// Lines with the same time are in the order of their records and, within a record, in the order of its events.
///
/// SQLite sorts the lines in a private file, so that memory use does not depend on the number of lines.
final class TimelineSink: TableSink {
    private let output: any StreamSink
    private let database: NewDatabase
    private let insertion: RowInsertion
    private(set) var untimedRowCount = 0
    let prepareRows: @Sendable (inout RowBuffer) -> TimelineLines = { TimelineWriter.lines(of: $0) }

    private static let pieceSize = 1 << 20

    init(_ output: any StreamSink, threads: Int) throws(FileError) {
        self.output = output
        do {
            database = try NewDatabase(path: "", threads: threads)
            try database.run("CREATE TABLE lines (number INTEGER PRIMARY KEY, time INTEGER, line TEXT) STRICT")
            insertion = try database.insertion(into: "lines", columns: 3)
        } catch {
            throw FileError(sorting: error)
        }
    }

    var identities: Set<FileIdentity> { output.identities }

    var extraContents: ExtraContents { .allTables }

    func write(_ prepared: borrowing TimelineLines) throws {
        untimedRowCount += prepared.untimedRowCount
        let lines = prepared.lines
        let text = prepared.text[0..<prepared.text.count]
        do {
            try insertion.add(rows: lines.count, text: text.span) { index in
                let line = lines[index / 3]
                return switch index % 3 {
                case 0: .null
                case 1: .integer(line.time)
                default: .text(start: line.byteRange.lowerBound, count: line.byteRange.count)
                }
            }
        } catch {
            throw FileError(sorting: error)
        }
    }

    func commit() throws {
        var piece: [UInt8] = []
        do {
            try database.forEachFirstColumn(of: "SELECT line FROM lines ORDER BY time, number") { line in
                line.withUnsafeBytes { piece += $0 }
                piece.append(UInt8(ascii: "\n"))
                guard piece.count >= Self.pieceSize else { return }
                try output.write(piece.span)
                piece.removeAll(keepingCapacity: true)
            }
        } catch let error as DatabaseError {
            throw FileError(sorting: error)
        }
        try output.write(piece.span)
        try output.commit()
    }
}

extension FileError {
    /// Creates an error that reports a failure to sort the lines.
    ///
    /// SQLite sorts the lines in private files in a temporary folder.
    fileprivate init(sorting error: any Error) {
        self.init(error, .spool, "temporary files", doing: "sort the timeline")
    }
}

/// The lines of a timeline and their times, in the order of the records.
struct TimelineLines: Sendable {
    struct Line: Sendable {
        /// The time of the line, in milliseconds since 1970.
        let time: Int64
        /// The range of the line in `text`, without a line feed.
        let byteRange: Range<Int>
    }

    fileprivate(set) var text = TextBuffer()
    fileprivate(set) var lines: [Line] = []
    /// The number of rows that are omitted because they have no time.
    fileprivate(set) var untimedRowCount = 0
}

/// A writer that formats rows as JSON objects for Timesketch.
///
/// There is one object for each event, and one for each record without events. Rows without a time are only counted.
///
/// Source: "Exports", section 2.
private struct TimelineWriter {
    private let records: TableRows
    private var holds: TableRows
    private var notes: TableRows
    private var events: TableRows
    private var output = TimelineLines()

    /// The maximum size, in bytes, of the JSON in the member `extra` of a line.
    ///
    /// Longer JSON is truncated.
    private static let maxExtraSize = 32_000

    private init(_ rows: RowBuffer) {
        records = TableRows(ExportTables.records, in: rows)
        holds = TableRows(ExportTables.holds, in: rows)
        notes = TableRows(ExportTables.notes, in: rows)
        events = TableRows(ExportTables.events, in: rows)
    }

    static func lines(of rows: RowBuffer) -> TimelineLines {
        var writer = TimelineWriter(rows)
        for record in 0..<writer.records.count { writer.addLines(ofRecord: record) }
        return writer.output
    }

    private mutating func addLines(ofRecord record: Int) {
        let number = records[record, records.column("record")]
        let held = holds.nextRows(ofRecord: number)
        let shared = sharedFields(record, holds: held, isNoted: !notes.nextRows(ofRecord: number).isEmpty)
        let events = events.nextRows(ofRecord: number)
        guard !events.isEmpty else { return addLine(of: record, shared) }
        for event in events { addLine(ofEvent: event, shared) }
    }

    /// The properties that all lines of a record share.
    private struct SharedFields {
        var number: Int?
        var system: String
        var type: String
        /// The members with the keys `app`, `capture`, `client`, `device`, `held`, `path` and `record_id`.
        var members: [(key: String, value: String)]
        var tags: [String]
    }

    private mutating func sharedFields(_ record: Int, holds held: Range<Int>, isNoted: Bool) -> SharedFields {
        let codes = held.map { text(holds, $0, "code") ?? "" }
        let pairs: [(key: String, value: String?)] = [
            ("app", text(records, record, "app_name") ?? text(records, record, "app_id")),
            ("capture", text(records, record, "capture")), ("client", text(records, record, "client")),
            ("device", text(records, record, "device")),
            ("held", codes.isEmpty ? nil : codes.joined(separator: ",")), ("path", text(records, record, "path")),
            ("record_id", text(records, record, "id")),
        ]
        return SharedFields(
            number: records.integer(record, records.column("record")),
            system: text(records, record, "system") ?? "", type: text(records, record, "type") ?? "",
            members: pairs.compactMap { pair in pair.value.map { (pair.key, $0) } },
            tags: (codes.isEmpty ? [] : ["held"]) + (isNoted ? ["normalized"] : []))
    }

    private mutating func addLine(of record: Int, _ shared: SharedFields) {
        addLine(LineFields(time: records.integer(record, records.column("time_ms"))), shared)
    }

    private mutating func addLine(ofEvent event: Int, _ shared: SharedFields) {
        let recordBases = ["record", "earlier-run"]
        addLine(
            LineFields(
                time: events.integer(event, events.column("at_ms")),
                isEventTime: text(events, event, "at_basis").map { !recordBases.contains($0) } ?? false,
                number: events.integer(event, events.column("n")),
                elapsed: events.integer(event, events.column("elapsed_ms")), name: text(events, event, "name"),
                label: text(events, event, "label"), extra: events.bytes(event, events.column("extra"))),
            shared)
    }

    /// The properties of a single line.
    ///
    /// All properties except the time are absent if the line does not belong to an event.
    private struct LineFields {
        let time: Int?
        var isEventTime = false
        var number: Int?
        var elapsed: Int?
        var name: String?
        var label: String?
        var extra: ArraySlice<UInt8>?
    }

    private mutating func addLine(_ line: LineFields, _ shared: SharedFields) {
        guard let milliseconds = line.time.map(Int64.init), let instant = Timestamp(inAnyYear: milliseconds) else {
            output.untimedRowCount += 1
            return
        }
        let kind = "\(shared.system) \(shared.type)"
        var members = shared.members
        members.append(("data_type", "pingferry:\(shared.system):\(shared.type)"))
        // For example, `2018-05-24T12:00:08.418Z` becomes `2018-05-24T12:00:08.418000+00:00`.
        members.append(("datetime", "\(instant.description.dropLast())000+00:00"))
        if let extra = line.extra {
            members.append(("extra", String(decoding: extra.utf8Prefix(Self.maxExtraSize), as: UTF8.self)))
        }
        members.append(("message", line.label ?? line.name ?? kind))
        if let name = line.name { members.append(("name", name)) }
        members.append(("system", shared.system))
        members.append(("timestamp_desc", line.isEventTime ? "Event recorded" : "Ping queued"))
        members.append(("type", shared.type))
        let numbers = [("elapsed_ms", line.elapsed), ("n", line.number), ("record", shared.number)]
        write(members, numbers: numbers, tags: shared.tags, at: milliseconds)
    }

    private mutating func write(
        _ members: [(key: String, value: String)], numbers: [(key: String, value: Int?)], tags: [String],
        at milliseconds: Int64
    ) {
        let start = output.text.count
        output.text.append(UInt8(ascii: "{"))
        for (key, value) in members {
            if output.text.count > start + 1 { output.text.append(UInt8(ascii: ",")) }
            output.text.append(jsonString: key.utf8.span)
            output.text.append(UInt8(ascii: ":"))
            output.text.append(jsonString: value.utf8.span)
        }
        for (key, value) in numbers {
            if let value { output.text.append(copying: ",\"\(key)\":\(value)".utf8.span) }
        }
        output.text.append(copying: ",\"tag\":[".utf8.span)
        for (index, tag) in tags.enumerated() {
            if index > 0 { output.text.append(UInt8(ascii: ",")) }
            output.text.append(jsonString: tag.utf8.span)
        }
        output.text.append(copying: "],\"timestamp\":\(milliseconds * 1000)}".utf8.span)
        output.lines.append(TimelineLines.Line(time: milliseconds, byteRange: start..<output.text.count))
    }

    private func text(_ rows: TableRows, _ row: Int, _ column: String) -> String? {
        rows.fullText(row, rows.column(column))
    }
}
