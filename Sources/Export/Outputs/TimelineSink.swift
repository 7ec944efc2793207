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

/// A sink that writes the lines of a timeline in chronological order, in the format of Timesketch.
///
/// There is a line for each event, and one for each record without events. Lines with the same time are in the order of
/// their records and, within a record, in the order of its events. Rows without a time are only counted, and so are rows
/// with a time that readers of timelines cannot represent.
///
/// SQLite sorts the rows in a private file, so that memory use does not depend on their number.
///
/// Source: "Exports", section 2.
final class TimelineSink: TableSink {
    private let output: any StreamSink
    private let rows: TableDatabase
    private(set) var untimedRowCount = 0

    private static let pieceSize = 1 << 20
    /// The times, in milliseconds since 1970, that a signed 64-bit number of nanoseconds can represent.
    ///
    /// They end in the year 2262. Versions of pandas before 3 reject a timeline with any other time.
    private static let representableTimes = Int64.min / 1_000_000...Int64.max / 1_000_000
    /// The maximum size, in bytes, of the JSON in the member `extra` of a line.
    ///
    /// Longer JSON is truncated.
    private static let maxExtraSize = 32_000

    init(_ output: any StreamSink, tables: ExportTables, threads: Int) throws(FileError) {
        self.output = output
        do {
            let columns: KeyValuePairs = [
                "records": "record system type id client time_ms app_id app_name device capture path",
                "holds": "record n code", "notes": "record n",
                "events": "record n at_ms at_basis elapsed_ms name extra label",
            ]
            let database = try NewDatabase(path: "", threads: threads)
            rows = try TableDatabase(database, tables.keeping(columns), for: Self.self)
        } catch {
            throw FileError(sorting: error)
        }
    }

    var prepareRows: @Sendable (inout RowBuffer) -> RowBuffer { rows.prepareRows }

    var tables: [Table] { rows.tables }

    var identities: Set<FileIdentity> { output.identities }

    var extraContents: ExtraContents { .allTables }

    func write(_ prepared: borrowing RowBuffer) throws {
        do { try rows.write(prepared) } catch { throw FileError(sorting: error) }
    }

    func recycle(_ prepared: RowBuffer) { rows.recycle(prepared) }

    /// The keys of the members with strings.
    private static let keys = [
        "app", "capture", "client", "device", "held", "path", "record_id", "data_type", "datetime", "extra", "message",
        "name", "system", "timestamp_desc", "type",
    ]

    /// The query that returns the strings in the order of ``keys``, except for the time, and other values.
    private static let query = """
        SELECT coalesce(app_name, app_id), capture, client, device,
        (SELECT group_concat(code, ',') FROM holds WHERE holds.record = records.record), path, id,
        'pingferry:' || system || ':' || type, NULL, extra, coalesce(label, nullif(name, ''), system || ' ' || type), name, system,
        CASE WHEN at_basis NOT IN ('record', 'earlier-run') THEN 'Event recorded' ELSE 'Ping queued' END, type,
        elapsed_ms, n, records.record, EXISTS (SELECT 1 FROM notes WHERE notes.record = records.record),
        CASE WHEN n IS NULL THEN time_ms ELSE at_ms END AS time
        FROM records LEFT JOIN events ON events.record = records.record ORDER BY time, records.record, n
        """

    func commit() throws {
        var piece = TextBuffer()
        do {
            try rows.database.forEachRow(of: Self.query) { row in
                guard let number = row[19] as Int64?, Self.representableTimes.contains(number),
                    let time = Timestamp(inAnyYear: number)
                else {
                    untimedRowCount += 1
                    return
                }
                Self.append(row, at: time, to: &piece)
                guard piece.count >= Self.pieceSize else { return }
                try output.write(piece[0..<piece.count].span)
                piece.removeAll()
            }
        } catch let error as DatabaseError {
            throw FileError(sorting: error)
        }
        try output.write(piece[0..<piece.count].span)
        try output.commit()
    }

    private static func append(_ row: borrowing DatabaseRow, at time: Timestamp, to output: inout TextBuffer) {
        var separator = "{"
        for (index, key) in keys.enumerated() {
            // For example, `2018-05-24T12:00:08.418Z` becomes `2018-05-24T12:00:08.418000+00:00`.
            var value = key == "datetime" ? "\(time.description.dropLast())000+00:00" : row[index] as String?
            if key == "extra", let extra = value, extra.utf8.count > maxExtraSize {
                value = String(decoding: Array(extra.utf8)[...].utf8Prefix(maxExtraSize), as: UTF8.self)
            }
            guard let value else { continue }
            output.append(copying: "\(separator)\"\(key)\":".utf8.span)
            output.append(jsonString: value.utf8.span)
            separator = ","
        }
        for (index, key) in ["elapsed_ms", "n", "record"].enumerated() {
            if let number: Int64 = row[keys.count + index] { output.append(copying: ",\"\(key)\":\(number)".utf8.span) }
        }
        let isHeld = (row[4] as String?) != nil
        let tags = (isHeld ? ["\"held\""] : []) + (row[18] ? ["\"normalized\""] : [])
        let end = ",\"tag\":[\(tags.joined(separator: ","))],\"timestamp\":\(time.milliseconds * 1000)}\n"
        output.append(copying: end.utf8.span)
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
