import Telemetry

/// The SQL statements for the tables, indexes and views of an SQLite database.
///
/// Source: "Exports", section 1; SQLite, "CREATE TABLE", "STRICT Tables", "The WITHOUT ROWID Optimization".
enum SchemaText {
    static func createStatement(for table: Table) -> String {
        let columns = table.columns.map { column in
            let isRowID = table.key == [column.name] && sqlType(of: column) == "INTEGER"
            // If a single integer column is the key, SQLite uses it as the rowid.
            if isRowID { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(referenceClause(column, table))" }
            return
                "\(quoted(column.name)) \(sqlType(of: column))\(column.isRequired ? " NOT NULL" : "")\(referenceClause(column, table))"
        }
        let hasRowIDKey = columns.contains { $0.contains(" PRIMARY KEY") }
        let key = hasRowIDKey ? [] : ["PRIMARY KEY (\(columnList(table.key)))"]
        let kind = hasRowIDKey ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quoted(table.name)) (\((columns + key).joined(separator: ", "))) \(kind)"
    }

    static func createIndexStatements(for table: Table) -> [String] {
        table.indexes.map { columns in
            let name = quoted(([table.name] + columns).joined(separator: "_"))
            return "CREATE INDEX \(name) ON \(quoted(table.name)) (\(columnList(columns)))"
        }
    }

    static func createStatement(for view: TableView) -> String {
        "CREATE VIEW \(quoted(view.name)) (\(columnList(view.columns))) AS \(view.query)"
    }

    /// Returns `name` as a quoted SQL identifier.
    ///
    /// All names are quoted, because some columns have the names of SQL keywords.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    static func sqlType(of column: TableColumn) -> String {
        switch column.kind {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .text, .time, .json: "TEXT"
        }
    }

    private static func referenceClause(_ column: TableColumn, _ table: Table) -> String {
        table.belongsToRecords && column.name == TableColumn.record.name ? " REFERENCES records (record)" : ""
    }

    private static func columnList(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
}
