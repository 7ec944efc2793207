import Telemetry

/// Creates the SQL statements for the tables, indexes and views of an SQLite database.
///
/// Source: "Exports", section 1; SQLite, "CREATE TABLE", "STRICT Tables", "The WITHOUT ROWID Optimization".
enum SchemaText {
    static func creation(of table: Table) -> String {
        let columns = table.columns.map { column in
            let isNumber = table.key == [column.name] && type(of: column) == "INTEGER"
            // If a single integer column is the key, SQLite uses it as the rowid.
            if isNumber { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(reference(column, table))" }
            return
                "\(quoted(column.name)) \(type(of: column))\(column.isRequired ? " NOT NULL" : "")\(reference(column, table))"
        }
        let isNumbered = columns.contains { $0.contains(" PRIMARY KEY") }
        let key = isNumbered ? [] : ["PRIMARY KEY (\(list(table.key)))"]
        let kind = isNumbered ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quoted(table.name)) (\((columns + key).joined(separator: ", "))) \(kind)"
    }

    static func indexes(of table: Table) -> [String] {
        table.indexes.map { columns in
            let name = quoted(([table.name] + columns).joined(separator: "_"))
            return "CREATE INDEX \(name) ON \(quoted(table.name)) (\(list(columns)))"
        }
    }

    static func creation(of view: TableView) -> String {
        "CREATE VIEW \(quoted(view.name)) (\(list(view.columns))) AS \(view.query)"
    }

    /// Returns an identifier in quotation marks, because some columns have the names of SQL keywords.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    static func type(of column: TableColumn) -> String {
        switch column.kind {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .text, .json: "TEXT"
        }
    }

    private static func reference(_ column: TableColumn, _ table: Table) -> String {
        table.belongsToRecords && column.name == TableColumn.record.name ? " REFERENCES records (record)" : ""
    }

    private static func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
}
