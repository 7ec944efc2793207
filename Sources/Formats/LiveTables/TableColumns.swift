import Bytes
import JSONText

/// The columns of a live table of Mozilla, or the fields of a column of type RECORD.
///
/// Source: BigQuery, "Specifying a schema".
public final class TableColumns: Sendable {
    /// The columns in the order of their names.
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

    /// Creates a list of columns, which must not be empty and must have different names.
    package init(_ columns: [TableColumn]) {
        shape =
            switch columns.map(\.name.utf8) {
            case [Array("key".utf8), Array("value".utf8)], [Array("key".utf8)]: .map
            case [Array("list".utf8)] where columns[0].isRepeated: .nestedList
            default: .plain
            }
        let sorted = columns.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        required = sorted.indices.filter { sorted[$0].isRequired }
        self.sorted = sorted
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
package final class TableColumn: Sendable {
    /// A type, with its name in schemas.
    package enum ValueType: String, Sendable {
        case string = "STRING", integer = "INT64", float = "FLOAT64", boolean = "BOOL", json = "JSON"
        case timestamp = "TIMESTAMP", record = "RECORD"
        /// Any other type, whose values are strings or numbers.
        case other = "OTHER"
    }

    package enum Mode: String, Sendable {
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

    package init(_ name: String, _ type: ValueType, _ mode: Mode, fields: TableColumns?) {
        self.name = JSONKey(name)
        label = Array("\"\(name)\":".utf8)
        self.type = type
        self.mode = mode
        self.fields = fields
    }

    package var isRepeated: Bool { mode == .repeated }
    var isRequired: Bool { mode == .required }
}
