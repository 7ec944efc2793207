import Bytes
import JSONText
import LiveTables

/// A reader of schema files, which can be malformed or forged.
///
/// Source: BigQuery, "Specifying a schema".
enum TableSchema {
    /// The maximum size of a file, in bytes.
    static let sizeLimit = 32 << 20
    /// The maximum number of nested columns of type RECORD, as in BigQuery.
    private static let depthLimit = 15
    /// The maximum length of the name of a column, in bytes, as in BigQuery.
    private static let nameLimit = 300
    /// The maximum number of columns of a table with all nested columns.
    private static let countLimit = 100_000

    /// Reads the JSON of a schema file, which is an array of columns.
    static func columns(in schema: [UInt8]) throws(TableSchemaError) -> TableColumns {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(schema)
        } catch {
            throw TableSchemaError(error.code.text, at: error.offset)
        }
        var count = 0
        return try columns(document, document.root, depth: 0, count: &count)
    }

    private static func columns(
        _ document: JSONDocument, _ list: JSONNode, depth: Int, count: inout Int
    ) throws(TableSchemaError) -> TableColumns {
        guard document.kind(of: list) == .array else { throw TableSchemaError(list, document, "not a list of columns") }
        guard depth <= depthLimit else {
            throw TableSchemaError(list, document, "more than \(depthLimit) nested records")
        }
        var columns: [TableColumn] = []
        var names: Set<CapturedText> = []
        for element in document.elements(of: list) {
            count += 1
            guard count <= countLimit else {
                throw TableSchemaError(element, document, "more than \(countLimit) columns")
            }
            let column = try column(element, of: document, depth: depth, count: &count)
            guard names.insert(column.name.description) else {
                throw TableSchemaError(element, document, "two columns with the name \(column.name)")
            }
            columns.append(column)
        }
        guard !columns.isEmpty else { throw TableSchemaError(list, document, "a list without columns") }
        return TableColumns(columns)
    }

    private static func column(
        _ node: JSONNode, of document: JSONDocument, depth: Int, count: inout Int
    ) throws(TableSchemaError) -> TableColumn {
        func text(_ key: JSONKey) -> String? {
            guard let value = document.value(of: key, in: node), document.kind(of: value) == .string else { return nil }
            return document.string(of: value)
        }
        guard let name = text("name"), isName(name.utf8.span) else {
            throw TableSchemaError(node, document, "a column without a valid name")
        }
        guard let type = text("type").flatMap(type) else {
            throw TableSchemaError(node, document, "column \(name): an unknown type")
        }
        guard let mode = TableColumn.Mode(rawValue: text("mode") ?? TableColumn.Mode.nullable.rawValue) else {
            throw TableSchemaError(node, document, "column \(name): an unknown mode")
        }
        guard type == .record else { return TableColumn(name, type, mode, fields: nil) }
        guard let fields = document.value(of: "fields", in: node) else {
            throw TableSchemaError(node, document, "column \(name): a record without fields")
        }
        return TableColumn(
            name, type, mode, fields: try columns(document, fields, depth: depth + 1, count: &count))
    }

    /// Returns the type called `name`, or `nil` if BigQuery has no such type.
    private static func type(_ name: String) -> TableColumn.ValueType? {
        switch name {
        case "INTEGER": .integer
        case "FLOAT": .float
        case "BOOLEAN": .boolean
        case "STRUCT": .record
        case "BYTES", "DATE", "TIME", "DATETIME", "NUMERIC", "BIGNUMERIC", "GEOGRAPHY": .other
        case TableColumn.ValueType.other.rawValue: nil
        default: TableColumn.ValueType(rawValue: name)
        }
    }

    private static func isName(_ name: Span<UInt8>) -> Bool {
        (1...nameLimit).contains(name.count) && !name[0].isDigit
            && name.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}

/// An error that states why a file is not the schema of a table.
struct TableSchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The byte offset of the fault.
    let offset: Int
    /// The reason.
    let reason: String

    /// Creates an error.
    init(_ reason: String, at offset: Int = 0) {
        self.offset = offset
        self.reason = reason
    }

    fileprivate init(_ node: JSONNode, _ document: JSONDocument, _ reason: String) {
        self.init(reason, at: document.sourceRange(of: node)?.lowerBound ?? 0)
    }

    /// The reason and the offset.
    var description: String { "\(reason) at byte \(offset)" }
}
