import Bundle
import Console
import Files
import JSONText
import Telemetry

/// The records of a bundle in short: what they are called and why they are held. They are read a segment at a time.
struct RecordListing {
    let reader: BundleReader

    /// Calls `body` with an object for each record, in their order.
    /// - Throws: `BundleError`, and what `body` throws.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws {
        try forEach(Self.object, body)
    }

    /// Calls `body` with what `show` makes of each record. A segment is checked as a whole before `body` is called.
    private func forEach<Shown>(_ show: (borrowing Record) -> Shown, _ body: (Shown) throws -> Void) throws {
        for segment in reader.manifest.segments {
            var shown: [Shown] = []
            _ = try reader.forEachRecord(of: segment) { record, _, _ in shown.append(show(record)) }
            for element in shown { try body(element) }
        }
    }

    private static func object(of record: borrowing Record) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("client", string: record.client)
        object.set("held", elements: record.held.map(\.jsonWithCode.bytes))
        object.set("id", string: record.id)
        object.set("system", string: record.system.description)
        object.set("time", string: record.time?.description)
        object.set("type", string: record.type)
        return object
    }

    private static func cells(of record: borrowing Record) -> [String] {
        let reasons = record.held.map(\.text).joined(separator: "; ")
        return [
            record.id, record.system.description, record.type, record.client ?? "-", record.time?.description ?? "-",
            reasons.isEmpty ? "-" : reasons,
        ]
    }

    /// Prints a line for each record, with tabs between the columns.
    /// - Parameter name: what the bundle is called in a last column; nil if there is none.
    func printLines(bundleName name: String?) throws {
        var lines: [String] = []
        func flush() throws(FileError) {
            guard !lines.isEmpty else { return }
            try Terminal.print(lines: lines.joined(separator: "\n"))
            lines.removeAll(keepingCapacity: true)
        }
        try forEach(Self.cells) { cells in
            // What cannot be seen is shown cell by cell: a tab or a line feed in an id must not make two of one.
            lines.append((cells + [name].compactMap(\.self)).map(\.printable).joined(separator: "\t"))
            if lines.count >= Self.linesAtOnce { try flush() }
        }
        try flush()
    }

    private static let linesAtOnce = 1024
}
