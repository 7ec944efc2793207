import Files
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
