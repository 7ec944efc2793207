import JSONText
import Telemetry

/// The description of a folder of tables as a data package, which lists the files with the types and the meanings of
/// their columns.
///
/// Source: Frictionless Data, "Data Package", "Tabular Data Resource", "Table Schema".
enum DataPackage {
    /// The name of the description in the folder.
    static let fileName = "datapackage.json"

    /// The format of the files.
    enum FileFormat: String {
        case csv, parquet

        fileprivate var mediaType: String {
            switch self {
            case .csv: "text/csv"
            case .parquet: "application/vnd.apache.parquet"
            }
        }
    }

    /// Returns the description as JSON.
    static func bytes(for tables: [Table], _ format: FileFormat) -> [UInt8] {
        let resources = tables.map { table -> CanonicalObject in
            [
                "description": table.description, "encoding": "utf-8", "format": format.rawValue,
                "mediatype": format.mediaType, "name": table.name, "path": "\(table.name).\(format.rawValue)",
                "profile": format == .csv ? "tabular-data-resource" : "data-resource",
                "schema": schema(of: table, format),
            ]
        }
        let package: CanonicalObject = [
            "name": "pingferry", "profile": format == .csv ? "tabular-data-package" : "data-package",
            "resources": resources, "title": "Tables of telemetry records",
        ]
        return package.bytes + [UInt8(ascii: "\n")]
    }

    private static func schema(of table: Table, _ format: FileFormat) -> CanonicalObject {
        var schema: CanonicalObject = [
            "fields": table.columns.map { field(for: $0, format) }, "primaryKey": table.key,
        ]
        let references = table.columns.filter(\.refersToRecord).map { column -> CanonicalObject in
            let reference: CanonicalObject = ["fields": ["record"], "resource": "records"]
            return ["fields": [column.name], "reference": reference]
        }
        if !references.isEmpty { schema.set("foreignKeys", references) }
        return schema
    }

    private static func field(for column: TableColumn, _ format: FileFormat) -> CanonicalObject {
        var field: CanonicalObject = [
            "description": column.meaning, "name": column.name, "type": type(of: column.kind),
        ]
        switch (column.kind, format) {
        case (.flag, .csv):
            field.set("falseValues", ["0"])
            field.set("trueValues", ["1"])
        case (.flag, .parquet), (.integer, _), (.real, _), (.text, _), (.time, _), (.json, _): break
        }
        // A required string can be empty, which readers of CSV regard as a missing value.
        if column.isRequired, ![.text, .json].contains(column.kind) {
            field.set("constraints", ["required": true] as CanonicalObject)
        }
        return field
    }

    private static func type(of kind: TableColumn.Kind) -> String {
        switch kind {
        case .integer: "integer"
        case .flag: "boolean"
        case .real: "number"
        case .text, .json: "string"
        case .time: "datetime"
        }
    }
}

/// The meanings of the tables, views and columns of a database as metadata for Datasette.
///
/// Source: Datasette, "Metadata".
public enum DatasetteMetadata {
    /// Returns the metadata of a database as JSON.
    ///
    /// `name` is the name of the database in Datasette, which is the name of its file without the extension.
    public static func bytes(forDatabaseNamed name: String, systems: SystemTable) -> [UInt8] {
        var descriptions = CanonicalObject()
        for table in ExportTables(systems).all {
            var columns = CanonicalObject()
            for column in table.columns { columns.set(JSONKey(column.name), column.meaning) }
            descriptions.set(
                JSONKey(table.name), ["columns": columns, "description": table.description] as CanonicalObject)
        }
        for view in ExportTables.views {
            descriptions.set(
                JSONKey(view.name), ["description": "A row for each \(view.rowMeaning)"] as CanonicalObject)
        }
        let database: CanonicalObject = ["tables": descriptions]
        var databases = CanonicalObject()
        databases.set(JSONKey(name), database)
        let metadata: CanonicalObject = ["databases": databases]
        return metadata.bytes + [UInt8(ascii: "\n")]
    }
}

extension Table {
    /// The meaning of the table as a sentence without a full stop.
    var description: String { "A row for each \(rowMeaning)" }

    /// The meanings of the table and its columns, by the key under which a Parquet file stores them.
    var keyedMeanings: [(key: String, meaning: String)] {
        [("description", description)] + columns.map { ("description.\($0.name)", $0.meaning) }
    }
}
