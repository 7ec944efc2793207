import Telemetry

/// The declaration of tables as SQLite reads it.
///
/// Source: "Exports", section 1; SQLite, "CREATE TABLE", "STRICT Tables", "The WITHOUT ROWID Optimization".
enum SchemaText {
    /// Makes a table.
    static func creation(of table: Table) -> String {
        let columns = table.columns.map { column in
            let isNumber = table.key == [column.name] && type(of: column) == "INTEGER"
            // A number that is the whole key is SQLite's own number of the row.
            if isNumber { return "\(quoted(column.name)) INTEGER PRIMARY KEY\(reference(column, table))" }
            return
                "\(quoted(column.name)) \(type(of: column))\(column.isRequired ? " NOT NULL" : "")\(reference(column, table))"
        }
        let isNumbered = columns.contains { $0.contains(" PRIMARY KEY") }
        let key = isNumbered ? [] : ["PRIMARY KEY (\(list(table.key)))"]
        let kind = isNumbered ? "STRICT" : "STRICT, WITHOUT ROWID"
        return "CREATE TABLE \(quoted(table.name)) (\((columns + key).joined(separator: ", "))) \(kind)"
    }

    /// Makes the indexes of a table.
    static func indexes(of table: Table) -> [String] {
        table.indexes.map { columns in
            let name = quoted(([table.name] + columns).joined(separator: "_"))
            return "CREATE INDEX \(name) ON \(quoted(table.name)) (\(list(columns)))"
        }
    }

    /// Returns the statement that fills the data dictionary with all columns of some tables.
    static func dictionary(of tables: [Table]) -> String {
        let rows = tables.flatMap { table in
            table.columns.map { [table.name, $0.name, description(of: $0), $0.meaning] }
        }
        let values = rows.map { "(\($0.map(literal).joined(separator: ", ")))" }
        return "INSERT INTO \(quoted(ExportTables.columns.name)) VALUES \(values.joined(separator: ", "))"
    }

    /// Returns the type of the values of a column in words, such as `INTEGER, 0 or 1 or NULL`.
    static func description(of column: TableColumn) -> String {
        let detail =
            switch column.kind {
            case .flag: ", 0 or 1"
            case .json: ", JSON"
            case .integer, .real, .text: ""
            }
        return type(of: column) + detail + (column.isRequired ? "" : " or NULL")
    }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// Makes a view.
    static func creation(of view: TableView) -> String {
        "CREATE VIEW \(quoted(view.name)) (\(list(view.columns))) AS \(view.query)"
    }

    /// A name as SQL has it: some columns have the names of SQL's own words.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// The type of the values of a column.
    static func type(of column: TableColumn) -> String {
        switch column.kind {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .text, .json: "TEXT"
        }
    }

    private static func reference(_ column: TableColumn, _ table: Table) -> String {
        table.isOfRecords && column.name == TableColumn.record.name ? " REFERENCES records (record)" : ""
    }

    private static func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ", ") }
}
