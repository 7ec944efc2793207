import Files
import JSONText
import Parallel
import Telemetry

/// Writes a folder with a CSV file for each table.
///
/// The folder becomes visible when it is complete.
final class CSVSink: TableSink {
    private var folder: AtomicFolder?
    private let spares: ValuePool<[TextBuffer], Never>
    let prepare: @Sendable (inout RowBuffer) -> [TextBuffer]
    let identities: Set<FileIdentity>

    init(path: String, replacing: Bool, tables: [Table]) throws(FileError) {
        let folder = try AtomicFolder(path: path, files: tables.map { "\($0.name).csv" }, replacing: replacing)
        for (place, table) in tables.enumerated() { try folder.write(CSVText.header(of: table).span, to: place) }
        identities = folder.identities
        let spares = ValuePool<_, Never>(keeping: Self.spareLimit) { tables.map { _ in TextBuffer() } }
        self.spares = spares
        prepare = { rows in
            var texts = spares.take()
            for (place, table) in tables.enumerated() {
                texts[place].removeAll()
                CSVText.append(rowsOf: place, table, in: rows, to: &texts[place])
            }
            return texts
        }
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

    func recycle(_ texts: [TextBuffer]) {
        if texts.allSatisfy({ $0.count <= Self.spareSizeLimit }) { spares.recycle(texts) }
    }

    func commit() throws { try folder.take()?.commit() }
}
