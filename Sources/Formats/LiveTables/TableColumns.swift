import Bytes
import JSONText

/// The columns of a live table of Mozilla, or the fields of a column of type RECORD.
///
/// Source: BigQuery, "Specifying a schema".
public final class TableColumns: Sendable {
    /// The columns in the order of their names.
    package let sorted: [TableColumn]
    /// The labels of all columns, in one array, because a reference to each column would be counted.
    let labels: [UInt8]
    /// The range of the label of each column in ``labels``.
    let labelRanges: [Range<Int>]
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
        var labels: [UInt8] = []
        labelRanges = sorted.map { column in
            labels += column.label
            return labels.count - column.label.count..<labels.count
        }
        self.labels = labels
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

/// The names that Mozilla's pipeline derives from the keys of payloads, and from namespaces and document types.
///
/// Source: "BigQuery rows", section 3.
public enum ColumnName {
    /// Returns a name in snake case, such as `active_gm_plugins` for `activeGMPlugins`.
    public static func snakeCase(_ name: String) -> String {
        var output: [UInt8] = []
        append(snakeCaseOf: name.utf8.span, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the name of the column for `key`, which is the key in snake case, after `_` if the key begins with a digit.
    package static func append(columnFor key: Span<UInt8>, to output: inout [UInt8]) {
        if beginsWithDigit(key) { output.append(UInt8(ascii: "_")) }
        append(snakeCaseOf: key, to: &output)
    }

    /// Appends a name in snake case.
    ///
    /// All bytes except those of ASCII letters and digits are separators. A word begins at a capital letter that follows
    /// a small letter and digits, or that follows a capital letter and digits, and precedes a small letter.
    private static func append(snakeCaseOf name: Span<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        /// The last letter of the current part, or 0 if the part has no letter yet.
        var lastLetter: UInt8 = 0
        var isInPart = false
        for index in name.indices {
            let byte = name[index]
            let isLetter = byte.isLetter
            guard isLetter || byte.isDigit else {
                isInPart = false
                lastLetter = 0
                continue
            }
            let precedesSmallLetter = index + 1 < name.count && name[index + 1].isLowercaseLetter
            let beginsPart = !isInPart && output.count > start
            let beginsWord =
                byte.isUppercaseLetter
                && (lastLetter.isLowercaseLetter || lastLetter.isUppercaseLetter && precedesSmallLetter)
            if beginsPart || beginsWord { output.append(UInt8(ascii: "_")) }
            output.append(byte.lowercased)
            if isLetter { lastLetter = byte }
            isInPart = true
        }
    }

    /// Returns whether the first character is a decimal digit of the Basic Multilingual Plane.
    private static func beginsWithDigit(_ key: Span<UInt8>) -> Bool {
        guard !key.isEmpty else { return false }
        guard key[0] >= 0x80 else { return key[0].isDigit }
        let start = String(readingUTF8: key.extracting(first: 4))
        guard let first = start.unicodeScalars.first else { return false }
        return first.value <= 0xFFFF && first.properties.generalCategory == .decimalNumber
    }
}
