import Files
import Telemetry

/// Writes tables as a folder with a CSV file for each, which appears complete or not at all.
final class CSVSink: TableSink {
    private var folder: AtomicFolder?
    let identities: Set<FileIdentity>
    /// A row of a table needs no time.
    let timeless = 0

    /// - Throws: `FileError`.
    init(path: String, replacing: Bool, tables: ExportTables) throws(FileError) {
        let names = tables.all.map { "\($0.name).csv" }
        let folder = try AtomicFolder(path: path, files: names, replacing: replacing)
        for (place, table) in tables.all.enumerated() { try folder.write(CSVText.header(of: table).span, to: place) }
        identities = folder.identities
        self.folder = consume folder
    }

    /// The text of each table.
    static func prepare(_ rows: RowBuffer, of tables: [Table]) -> [[UInt8]] {
        tables.indices.map { CSVText.rows(of: $0, tables[$0], in: rows) }
    }

    func write(_ texts: [[UInt8]]) throws {
        for (place, text) in texts.enumerated() where !text.isEmpty {
            switch folder {
            case .some(let folder): try folder.write(text.span, to: place)
            case .none: return
            }
        }
    }

    func commit() throws { try folder.take()?.commit() }
}
