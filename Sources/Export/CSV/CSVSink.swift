import Files
import JSONText
import Telemetry

/// A sink that writes a folder with a CSV file for each table and a script that loads the files into DuckDB.
///
/// The folder becomes visible when it is complete.
final class CSVSink: TableSink {
    /// Rows in the format of the files.
    struct Rows: Sendable {
        /// The rows of each table.
        var texts: [TextBuffer]
        /// The length, in bytes, of the longest row of each table.
        var longestRows: [Int]
    }

    private let tables: [Table]
    private let style: CSVText.Style
    private var folder: AtomicFolder?
    private var longestRows: [Int]
    private let spareBuffers: ValuePool<[TextBuffer], Never>
    let prepareRows: @Sendable (inout RowBuffer) -> Rows
    let identities: Set<FileIdentity>

    init(path: String, replacing: Bool, tables: [Table], style: CSVText.Style) throws(FileError) {
        self.tables = tables
        self.style = style
        longestRows = tables.map { _ in 0 }
        let names = tables.map { "\($0.name).csv" } + [LoadScript.fileName]
        let folder = try AtomicFolder(path: path, files: names, replacing: replacing)
        for (index, table) in tables.enumerated() { try folder.write(CSVText.header(of: table).span, to: index) }
        identities = folder.identities
        let spareBuffers = ValuePool<_, Never>(keeping: Self.maxSpareCount) { tables.map { _ in TextBuffer() } }
        self.spareBuffers = spareBuffers
        prepareRows = { rows in
            var prepared = Rows(texts: spareBuffers.take(), longestRows: [])
            for (index, table) in tables.enumerated() {
                prepared.texts[index].removeAll()
                prepared.longestRows.append(
                    CSVText.append(
                        rowsOfTableAt: index, table, in: rows, style: style, to: &prepared.texts[index]))
            }
            return prepared
        }
        self.folder = consume folder
    }

    func write(_ rows: borrowing Rows) throws {
        for index in tables.indices where rows.texts[index].count > 0 {
            let text = rows.texts[index][0..<rows.texts[index].count]
            try write(text.span, to: index)
            longestRows[index] = max(longestRows[index], rows.longestRows[index])
        }
    }

    private func write(_ bytes: Span<UInt8>, to file: Int) throws {
        switch folder {
        case .some(let folder): try folder.write(bytes, to: file)
        case .none: return
        }
    }

    func recycle(_ rows: Rows) {
        if rows.texts.allSatisfy({ $0.count <= Self.maxSpareSize }) { spareBuffers.recycle(rows.texts) }
    }

    func commit() throws {
        let script = LoadScript.text(for: tables, longestRows: longestRows, style: style)
        try write(script.utf8.span, to: tables.count)
        try folder.take()?.commit()
    }
}
