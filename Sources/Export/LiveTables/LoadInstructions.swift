import JSONText
import LiveTables

/// The text of the file that states how the rows of live tables are loaded and read.
///
/// Source: "BigQuery rows", section 10; DuckDB, "JSON Loading".
enum LoadInstructions {
    /// The name of the file in the folder.
    static let fileName = "README.txt"

    /// Returns the text for tables that are sorted by name.
    static func text(for tables: [(name: String, columns: TableColumns)]) -> String {
        var text = """
            These are the rows that the ingestion pipeline would write to its live tables. Run the commands in this folder.
            bq loads the rows into BigQuery, and duckdb creates tables with the same columns in a local file.

            # Set DATASET, such as my-project:captured
            """
        for (name, columns) in tables {
            // Only the dot between the namespace and the document type is replaced, because a version can contain dots.
            let table = name.split(separator: ".", maxSplits: 1).joined(separator: "_")
            text += """


                bq load --source_format=NEWLINE_DELIMITED_JSON "$DATASET.\(table)" \(name).ndjson \(name).schema.json
                duckdb ../captured.duckdb <<'END'
                CREATE OR REPLACE TABLE "\(table)" AS SELECT * FROM read_ndjson('\(name).ndjson', columns = {
                \(columns.sorted.map { "'\($0.name)': '\(type(of: $0))'" }.joined(separator: ",\n"))});
                END
                """
        }
        return text + "\n\n" + notes
    }

    private static let notes = """
        1. UNION ALL matches columns by position, also in nested records, and columns that were added to a live table later
           are at its end. If you can read the live table, create yours with CREATE TABLE ... LIKE the live table, and load
           the rows without a schema file. Otherwise, name the columns in both SELECTs.
        2. submission_timestamp is null unless delivery receipts were given. Put the filter on it, which live tables
           require, into the SELECT of the live table only.
        3. A ping may be in both tables: keep one row for each document_id, as stable tables do. Compare the ids without
           letter case.
        4. metadata.geo, metadata.isp and normalized_country_code are null in captured rows.

        """

    /// Returns the type of a column in DuckDB.
    private static func type(of column: TableColumn) -> String {
        let element =
            switch column.type {
            case .string, .other: "VARCHAR"
            case .integer: "BIGINT"
            case .float: "DOUBLE"
            case .boolean: "BOOLEAN"
            case .json: "JSON"
            case .timestamp: "TIMESTAMP"
            case .record:
                "STRUCT(\((column.fields?.sorted ?? []).map { "\"\($0.name)\" \(type(of: $0))" }.joined(separator: ", ")))"
            }
        return column.isRepeated ? "\(element)[]" : element
    }
}
