import Files
import JSONText
import Parallel
import Telemetry

/// Writes tables as a folder with a CSV file for each, which appears complete or not at all.
final class CSVSink: TableSink {
    private var folder: AtomicFolder?
    let preparer: CSVPreparer
    let identities: Set<FileIdentity>
    /// A row of a table needs no time.
    let timeless = 0

    /// - Throws: `FileError`.
    init(path: String, replacing: Bool, tables: ExportTables) throws(FileError) {
        let names = tables.all.map { "\($0.name).csv" }
        let folder = try AtomicFolder(path: path, files: names, replacing: replacing)
        for (place, table) in tables.all.enumerated() { try folder.write(CSVText.header(of: table).span, to: place) }
        identities = folder.identities
        preparer = CSVPreparer(tables: tables.all)
        self.folder = consume folder
    }

    func write(_ texts: borrowing [TextBuffer]) throws {
        for place in texts.indices where texts[place].count > 0 {
            let text = texts[place][0..<texts[place].count]
            switch folder {
            case .some(let folder): try folder.write(text.span, to: place)
            case .none: return
            }
        }
    }

    func commit() throws { try folder.take()?.commit() }
}

/// Makes the text of each table.
struct CSVPreparer: RowPreparer {
    let tables: [Table]
    private let spares: SparePool<[TextBuffer], Never>

    init(tables: [Table]) {
        self.tables = tables
        spares = SparePool(keeping: Self.spareLimit) { tables.map { _ in TextBuffer() } }
    }

    func prepare(_ rows: inout RecordRows) -> [TextBuffer] { prepare(rows.buffer) }

    func prepare(_ rows: RowBuffer) -> [TextBuffer] {
        var texts = spares.take()
        for place in tables.indices {
            texts[place].removeAll()
            CSVText.append(rowsOf: place, tables[place], in: rows, to: &texts[place])
        }
        return texts
    }

    func recycle(_ texts: [TextBuffer]) {
        if texts.allSatisfy({ $0.count <= Self.spareSizeLimit }) { spares.giveBack(texts) }
    }
}
