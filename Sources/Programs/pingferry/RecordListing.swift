import Bundle
import Console
import Files
import JSONText
import Telemetry

/// The records of a bundle in short: what they are called and why they are held. They are read a segment at a time.
struct RecordListing {
    /// A record.
    struct Entry {
        let id: String
        let system: String
        let type: String
        let client: String?
        let time: Timestamp?
        let held: [Hold]

        init(_ record: borrowing Record) {
            id = record.id
            system = record.system.description
            type = record.type
            client = record.client
            time = record.time
            held = record.held
        }

        /// The columns of a line.
        var cells: [String] {
            let reasons = held.map(\.text).joined(separator: "; ")
            return [id, system, type, client ?? "-", time?.description ?? "-", reasons.isEmpty ? "-" : reasons]
        }

        /// As JSON, for machines.
        var json: CanonicalObject {
            var object = CanonicalObject()
            object.set("client", string: client)
            object.set("held", elements: held.map(\.coded.bytes))
            object.set("id", string: id)
            object.set("system", string: system)
            object.set("time", string: time?.description)
            object.set("type", string: type)
            return object
        }
    }

    private let reader: BundleReader

    init(_ reader: BundleReader) {
        self.reader = reader
    }

    /// Hands on the records in their order.
    /// - Throws: `BundleError`, and what `body` throws.
    func forEach(_ body: (Entry) throws -> Void) throws {
        for segment in reader.manifest.segments {
            var entries: [Entry] = []
            _ = try reader.forEachRecord(of: segment) { record, _, _ in entries.append(Entry(record)) }
            for entry in entries { try body(entry) }
        }
    }

    /// Prints a line for each record, with tabs between the columns.
    /// - Parameter name: what the bundle is called in a last column; nil if there is none.
    func printLines(naming name: String?) throws {
        var lines: [String] = []
        func flush() throws(FileError) {
            guard !lines.isEmpty else { return }
            try Terminal.print(lines: lines.joined(separator: "\n"))
            lines.removeAll(keepingCapacity: true)
        }
        try forEach { entry in
            let cells = entry.cells + [name].compactMap(\.self)
            // What cannot be seen is shown cell by cell: a tab or a line feed in an id must not make two of one.
            lines.append(cells.map(\.printable).joined(separator: "\t"))
            if lines.count >= Self.linesAtOnce { try flush() }
        }
        try flush()
    }

    private static let linesAtOnce = 1024
}
