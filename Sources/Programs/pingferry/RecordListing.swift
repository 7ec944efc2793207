import Bundle
import Console
import Files
import JSONText
import Telemetry

/// A listing of the records of a bundle with their ids and holds, read one segment at a time.
struct RecordListing {
    let reader: BundleReader

    /// Calls `body` with a JSON object for each record, in order.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws { try forEach(Self.object, body) }

    /// Calls `body` with the result of `show` for each record, after the whole segment of the record has been checked.
    private func forEach<Shown>(_ show: (borrowing Record) -> Shown, _ body: (Shown) throws -> Void) throws {
        for segment in reader.manifest.segments {
            var shown: [Shown] = []
            _ = try reader.forEachRecord(of: segment) { record, _, _ in shown.append(show(record)) }
            for element in shown { try body(element) }
        }
    }

    private static func object(of record: borrowing Record) -> CanonicalObject {
        var object = CanonicalObject(naming: record)
        object.set("held", elements: record.held.map(\.jsonWithCode.bytes))
        object.set("source", string: "\(record.source.capture): \(record.source.path)")
        return object
    }

    private static func cells(of record: borrowing Record) -> [String] {
        var reasons = record.held.map(\.text).joined(separator: "; ")
        // Of several copies, this one was kept because of its holds.
        if CopyRank(record.held).isDecisive { reasons += " (\(record.source.capture): \(record.source.path))" }
        return [
            record.id, record.system.description, record.type, record.client ?? "-", record.time?.description ?? "-",
            reasons.isEmpty ? "-" : reasons,
        ]
    }

    /// Prints a line of tab-separated columns for each record, with `name` as the last column unless it is `nil`.
    func printLines(bundleName name: String?) throws {
        var lines: [String] = []
        func flush() throws(FileError) {
            guard !lines.isEmpty else { return }
            try Terminal.print(lines: lines.joined(separator: "\n"))
            lines.removeAll(keepingCapacity: true)
        }
        try forEach(Self.cells) { cells in
            // Each cell is escaped separately, so that a tab or a line feed in an id does not begin a new cell.
            lines.append((cells + [name].compactMap(\.self)).map(\.printable).joined(separator: "\t"))
            if lines.count >= Self.linesPerWrite { try flush() }
        }
        try flush()
    }

    private static let linesPerWrite = 1024
}
