import Files
import JSONText
import Parallel
import Telemetry

/// Writes a folder with a CSV file for each table.
///
/// The folder becomes visible when it is complete.
final class CSVSink: TableSink {
    private var folder: AtomicFolder?
    private let spareBuffers: ValuePool<[TextBuffer], Never>
    let prepareRows: @Sendable (inout RowBuffer) -> [TextBuffer]
    let identities: Set<FileIdentity>

    init(path: String, replacing: Bool, tables: [Table]) throws(FileError) {
        let folder = try AtomicFolder(path: path, files: tables.map { "\($0.name).csv" }, replacing: replacing)
        for (index, table) in tables.enumerated() { try folder.write(CSVText.header(of: table).span, to: index) }
        identities = folder.identities
        let spareBuffers = ValuePool<_, Never>(keeping: Self.maxSpareCount) { tables.map { _ in TextBuffer() } }
        self.spareBuffers = spareBuffers
        prepareRows = { rows in
            var texts = spareBuffers.take()
            for (index, table) in tables.enumerated() {
                texts[index].removeAll()
                CSVText.append(rowsOfTableAt: index, table, in: rows, to: &texts[index])
            }
            return texts
        }
        self.folder = consume folder
    }

    func write(_ texts: borrowing [TextBuffer]) throws {
        for index in texts.indices where texts[index].count > 0 {
            let text = texts[index][0..<texts[index].count]
            switch folder {
            case .some(let folder): try folder.write(text.span, to: index)
            case .none: return
            }
        }
    }

    func recycle(_ texts: [TextBuffer]) {
        if texts.allSatisfy({ $0.count <= Self.maxSpareSize }) { spareBuffers.recycle(texts) }
    }

    func commit() throws { try folder.take()?.commit() }
}
