import Bytes
import JSONText

/// The columns of a live table of Mozilla, or the fields of a column of type RECORD.
///
/// ```swift
/// let columns = try TableColumns(schema: Array(#"[{"name":"seq","type":"INT64","mode":"NULLABLE"}]"#.utf8))
/// ```
///
/// Source: BigQuery, "Specifying a schema".
public final class TableColumns: Sendable {
    /// The maximum size of a schema file, in bytes.
    public static let sizeLimit = 32 << 20
    /// The maximum number of nested columns of type RECORD, as in BigQuery.
    static let depthLimit = 15
    /// The maximum length of the name of a column, in bytes, as in BigQuery.
    static let nameLimit = 300
    /// The maximum number of columns of a table with all nested columns.
    static let countLimit = 100_000

    /// The columns, sorted by the bytes of their names.
    package let sorted: [TableColumn]
    /// The indices of the required columns.
    let required: [Int]
    /// The kind of repeated record that the columns are the fields of.
    let shape: Shape

    /// A kind of repeated record, which depends only on its fields.
    enum Shape: Sendable {
        case plain
        /// The fields `key` and `value`, or only `key`.
        case map
        /// The only field is `list`, which is repeated.
        case nestedList
    }

    /// Reads the JSON of a schema file, which is an array of columns.
    ///
    /// - Throws: ``TableSchemaError``.
    public convenience init(schema: [UInt8]) throws(TableSchemaError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(schema)
        } catch {
            throw TableSchemaError(error.code.text, at: error.offset)
        }
        var count = 0
        try self.init(document, document.root, depth: 0, count: &count)
    }

    private init(_ document: JSONDocument, _ list: JSONNode, depth: Int, count: inout Int) throws(TableSchemaError) {
        guard document.kind(of: list) == .array else { throw TableSchemaError(list, document, "not a list of columns") }
        guard depth <= Self.depthLimit else {
            throw TableSchemaError(list, document, "more than \(Self.depthLimit) nested records")
        }
        var columns: [TableColumn] = []
        for element in document.elements(of: list) {
            count += 1
            guard count <= Self.countLimit else {
                throw TableSchemaError(element, document, "more than \(Self.countLimit) columns")
            }
            columns.append(try Self.column(element, of: document, depth: depth, count: &count))
        }
        guard !columns.isEmpty else { throw TableSchemaError(list, document, "a list without columns") }
        shape =
            switch columns.map(\.name.utf8) {
            case [Array("key".utf8), Array("value".utf8)], [Array("key".utf8)]: .map
            case [Array("list".utf8)] where columns[0].isRepeated: .nestedList
            default: .plain
            }
        columns.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (first, second) in zip(columns, columns.dropFirst()) where first.name == second.name {
            throw TableSchemaError(list, document, "two columns with the name \(first.name)")
        }
        sorted = columns
        required = columns.indices.filter { columns[$0].isRequired }
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
        guard let typeName = text("type"), let type = TableColumn.ValueType(typeName) else {
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
            name, type, mode, fields: try TableColumns(document, fields, depth: depth + 1, count: &count))
    }

    private static func isName(_ name: Span<UInt8>) -> Bool {
        (1...nameLimit).contains(name.count) && !name[0].isDigit
            && name.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }

    /// Returns the index of the column called `name`, or `nil` if there is none.
    func index(of name: JSONKey) -> Int? { index(of: name.utf8.span) }

    /// Returns the index of the column called `name`, or `nil` if there is none.
    func index(of name: Span<UInt8>) -> Int? {
        let prefix = KeyPrefix(name)
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            let key = sorted[middle].name
            switch prefix.ordered(against: key.start) ?? name.ordered(against: key.utf8.span) {
            case 0: return middle
            case ..<0: high = middle
            default: low = middle + 1
            }
        }
        return nil
    }
}

/// A column of a live table, or a field of a column of type RECORD.
package struct TableColumn: Sendable {
    /// A type, of which BigQuery accepts several names.
    package enum ValueType: Sendable {
        case string, integer, float, boolean, json, timestamp, record
        /// Any other type, whose values are strings or numbers.
        case other

        init?(_ name: String) {
            switch name {
            case "STRING": self = .string
            case "INT64", "INTEGER": self = .integer
            case "FLOAT64", "FLOAT": self = .float
            case "BOOL", "BOOLEAN": self = .boolean
            case "JSON": self = .json
            case "TIMESTAMP": self = .timestamp
            case "RECORD", "STRUCT": self = .record
            case "BYTES", "DATE", "TIME", "DATETIME", "NUMERIC", "BIGNUMERIC", "GEOGRAPHY": self = .other
            default: return nil
            }
        }
    }

    enum Mode: String, Sendable {
        case nullable = "NULLABLE"
        case required = "REQUIRED"
        case repeated = "REPEATED"
    }

    package let name: JSONKey
    /// The name in quotation marks, followed by a colon.
    let label: [UInt8]
    package let type: ValueType
    private let mode: Mode
    /// The fields of a record, or `nil` for any other type.
    package let fields: TableColumns?

    init(_ name: String, _ type: ValueType, _ mode: Mode, fields: TableColumns?) {
        self.name = JSONKey(name)
        label = Array("\"\(name)\":".utf8)
        self.type = type
        self.mode = mode
        self.fields = fields
    }

    package var isRepeated: Bool { mode == .repeated }
    var isRequired: Bool { mode == .required }

    /// The name of the type in messages.
    var typeName: String {
        switch type {
        case .string: "STRING"
        case .integer: "INT64"
        case .float: "FLOAT64"
        case .boolean: "BOOL"
        case .json: "JSON"
        case .timestamp: "TIMESTAMP"
        case .record: "RECORD"
        case .other: "the type of the column"
        }
    }
}

/// An error that states why a file is not the schema of a table.
public struct TableSchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The byte offset of the fault.
    public let offset: Int
    /// The reason.
    public let reason: String

    /// Creates an error.
    public init(_ reason: String, at offset: Int = 0) {
        self.offset = offset
        self.reason = reason
    }

    fileprivate init(_ node: JSONNode, _ document: JSONDocument, _ reason: String) {
        self.init(reason, at: document.sourceRange(of: node)?.lowerBound ?? 0)
    }

    /// The reason and the offset.
    public var description: String { "\(reason) at byte \(offset)" }
}
