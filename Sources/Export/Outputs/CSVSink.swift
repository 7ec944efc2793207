import Files
import JSONText
import Telemetry

/// A sink that writes a folder with a CSV file for each table, a script that loads the files into DuckDB, and a
/// description of the files.
///
/// The folder becomes visible when it is complete.
final class CSVSink: TableSink {
    /// Rows in the format of the files.
    struct Rows: Sendable {
        /// The rows of each table.
        var texts: [TextBuffer]
        /// The properties of the rows of each table.
        var summaries: [CSVText.Summary]
    }

    let tables: [Table]
    private let style: CSVText.Style
    private var folder: AtomicFolder?
    private var longestRows: [Int]
    private(set) var truncatedCellCount = 0
    private let spareBuffers: ValuePool<[TextBuffer], Never>
    let prepareRows: @Sendable (inout RowBuffer) -> Rows
    let identities: Set<FileIdentity>

    init(path: String, replacing: Bool, tables: [Table], style: CSVText.Style) throws(FileError) {
        self.tables = tables
        self.style = style
        longestRows = tables.map { _ in 0 }
        let names = tables.map { "\($0.name).csv" } + [LoadScript.fileName, DataPackage.fileName]
        let folder = try AtomicFolder(path: path, files: names, replacing: replacing)
        for (index, table) in tables.enumerated() {
            try folder.write(CSVText.header(of: table, style: style).span, to: index)
        }
        identities = folder.identities
        let spareBuffers = ValuePool<_, Never>(keeping: Self.maxSpareCount) { tables.map { _ in TextBuffer() } }
        self.spareBuffers = spareBuffers
        prepareRows = { rows in
            var prepared = Rows(texts: spareBuffers.take(), summaries: [])
            for (index, table) in tables.enumerated() {
                prepared.texts[index].removeAll()
                prepared.summaries.append(
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
            longestRows[index] = max(longestRows[index], rows.summaries[index].longestRow)
            truncatedCellCount += rows.summaries[index].truncatedCellCount
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
        try write(DataPackage.bytes(for: tables, .csv).span, to: tables.count + 1)
        try folder.take()?.commit()
    }
}

/// The SQL script with which DuckDB loads a folder of CSV or Parquet files.
///
/// The script states the type of each column of a CSV file. Without it, DuckDB would infer types, and read the versions
/// 8.1 and 8.10 as the same number.
///
/// Source: "Exports", section 1; DuckDB, "CSV Import", "Parquet Import", "COMMENT ON Statement".
enum LoadScript {
    /// The name of the script in the folder.
    static let fileName = "load.sql"

    /// The maximum length, in bytes, of a line that DuckDB reads by default.
    private static let defaultLineLength = 2_000_000
    /// The size of the buffer that DuckDB uses by default, in bytes.
    private static let defaultBufferSize = 32_000_000

    /// Returns the script for CSV files.
    ///
    /// - Parameters:
    ///   - tables: The tables in the folder.
    ///   - longestRows: The length, in bytes, of the longest row of each table.
    ///   - style: The style of the text in the files.
    /// - Returns: The statements that create the tables and views from the files.
    static func text(for tables: [Table], longestRows: [Int], style: CSVText.Style) -> String {
        let spreadsheetComments = """
            -- The files were written with --spreadsheet: text that resembles a formula is preceded by an
            -- apostrophe, also after a semicolon, a vertical bar, a tab or a line end. The apostrophes are part
            -- of the loaded text. Text that does not fit into a cell is truncated.

            """
        return text(
            for: tables,
            comments: """
                -- JSON that DuckDB rejects, such as half of a surrogate pair, is loaded as a JSON string.
                \(style == .plain ? "" : spreadsheetComments)
                """
        ) { index, table in
            let json = table.columns.filter { $0.kind == .json }.map { column in
                let name = SchemaText.quoted(column.name)
                return "coalesce(try_cast(\(name) AS JSON), to_json(\(name))) AS \(name)"
            }
            return "\(replacement(json))\nFROM read_csv(\(csvArguments(table, longestRow: longestRows[index])))"
        }
    }

    /// Returns the script for Parquet files.
    static func text(forParquetFilesOf tables: [Table]) -> String {
        text(for: tables, comments: "") { _, table in " FROM read_parquet('\(table.name).parquet')" }
    }

    private static func text(
        for tables: [Table], comments: String, source: (Int, Table) -> String
    ) -> String {
        var script = """
            -- Loads the tables in this folder into DuckDB. Run it in this folder:
            --   duckdb ../tables.duckdb < \(fileName)
            -- DuckDB 1.2 or later is required. All times are in UTC.
            \(comments)
            """
        // Views are removed first, because they depend on the tables.
        for view in ExportTables.views { script += "DROP VIEW IF EXISTS \(SchemaText.quoted(view.name));\n" }
        for (index, table) in tables.enumerated() {
            let name = SchemaText.quoted(table.name)
            script += "CREATE OR REPLACE TABLE \(name) AS SELECT *\(source(index, table));\n"
            script += "COMMENT ON TABLE \(name) IS \(SchemaText.literal("A row for each \(table.rowMeaning)"));\n"
            for column in table.columns {
                let column = (name: SchemaText.quoted(column.name), meaning: SchemaText.literal(column.meaning))
                script += "COMMENT ON COLUMN \(name).\(column.name) IS \(column.meaning);\n"
            }
        }
        for view in ExportTables.views {
            script += "\(SchemaText.createStatement(for: view, in: DuckDBDialect.self));\n"
            let meaning = SchemaText.literal("A row for each \(view.rowMeaning)")
            script += "COMMENT ON VIEW \(SchemaText.quoted(view.name)) IS \(meaning);\n"
        }
        return script
    }

    private static func replacement(_ expressions: [String]) -> String {
        expressions.isEmpty ? "" : " REPLACE (\(expressions.joined(separator: ", ")))"
    }

    private static func csvArguments(_ table: Table, longestRow: Int) -> String {
        let columns = table.columns.map { "'\($0.name)': '\(type(of: $0))'" }
        var arguments = [
            "'\(table.name).csv'", "columns = {\(columns.joined(separator: ", "))}", "auto_detect = false",
            "header = true", "delim = ','", #"quote = '"'"#, #"escape = '"'"#, #"new_line = '\n'"#,
            "strict_mode = true",
            // NULL is an empty field, and an empty string is a pair of quotation marks.
            "nullstr = ''", "allow_quoted_nulls = false",
            // If several threads read a file from different positions, text that contains line feeds can cause errors.
            "parallel = false",
        ]
        if longestRow > defaultLineLength {
            arguments.append("max_line_size = \(longestRow)")
            arguments.append("buffer_size = \(max(defaultBufferSize, 2 * longestRow))")
        }
        return arguments.joined(separator: ", ")
    }

    /// Returns the type with which a column is read from the file.
    ///
    /// JSON is read as text, because an invalid value would otherwise end the script.
    private static func type(of column: TableColumn) -> String {
        switch column.kind {
        case .integer: "BIGINT"
        case .flag: "BOOLEAN"
        case .real: "DOUBLE"
        case .text, .json: "VARCHAR"
        case .time: "TIMESTAMP"
        }
    }
}

private enum DuckDBDialect: SQLDialect {
    static func monday(ofDay column: String) -> String {
        "strftime(date_trunc('week', CAST(\(column) AS DATE)), '%Y-%m-%d')"
    }

    static func weeks(from start: String, to end: String) -> String {
        "date_diff('day', CAST(\(start) AS DATE), CAST(\(end) AS DATE)) // 7"
    }
}
