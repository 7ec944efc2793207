/// A table of an export: what SQLite and CSV hold, and what `--help` and the documents say of it.
///
/// Declared once, as a value: nothing else names a table or a column.
///
/// ```swift
/// let searches = Table(
///     ofRecords: "searches", aRowForEach: "search count of a core ping",
///     [
///         TableColumn("engine", .text, "the search engine", isRequired: true),
///         TableColumn("count", .integer, "how many searches there were"),
///     ])
/// ```
///
/// Source: "Exports", section 1.
public struct Table: Sendable {
    /// Its name, a word in lower case.
    public let name: String
    /// What it has a row for, such as `event inside a record`.
    public let rowMeaning: String
    /// Its columns in their order.
    public let columns: [TableColumn]
    /// The columns by which a row is told from all others.
    public let key: [String]
    /// The lists of columns that have an index in SQLite, besides the key.
    public let indexes: [[String]]
    /// Whether each row belongs to a record: then the first column is `record`.
    public let isOfRecords: Bool

    /// Declares a table.
    /// - Parameter indexes: the columns that have an index of their own, each list of them one.
    public init(
        _ name: String, aRowForEach rowMeaning: String, _ columns: [TableColumn], key: [String],
        indexes: [[String]] = [], isOfRecords: Bool = false
    ) {
        self.name = name
        self.rowMeaning = rowMeaning
        self.columns = columns
        self.key = key
        self.indexes = indexes
        self.isOfRecords = isOfRecords
    }

    /// Declares a table of what stands in records: its rows begin with the number of the record and a number of their own.
    public init(ofRecords name: String, aRowForEach rowMeaning: String, _ columns: [TableColumn]) {
        let number = TableColumn(
            "n", .integer, "the number of the row among those of the record, from 0", isRequired: true)
        self.init(
            name, aRowForEach: rowMeaning, [.record, number] + columns, key: ["record", "n"], isOfRecords: true)
    }
}

/// A column of a table.
public struct TableColumn: Sendable {
    /// What its values are.
    public enum Kind: Sendable {
        /// A whole number of 64 bits.
        case integer
        /// 0 or 1.
        case flag
        /// A binary number of 64 bits.
        case real
        /// A text.
        case text
        /// Canonical JSON, as text.
        case json
    }

    /// The type of the values in words, such as `INTEGER, 0 or 1 or NULL`.
    public var typeDescription: String {
        let type =
            switch kind {
            case .integer: "INTEGER"
            case .flag: "INTEGER, 0 or 1"
            case .real: "REAL"
            case .text: "TEXT"
            case .json: "TEXT, JSON"
            }
        return type + (isRequired ? "" : " or NULL")
    }

    /// Its name.
    public let name: String
    /// What its values are.
    public let kind: Kind
    /// What its values say.
    public let meaning: String
    /// Whether each row has a value.
    public let isRequired: Bool

    /// Declares a column; one that is not required may be NULL.
    public init(_ name: String, _ kind: Kind, _ meaning: String, isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.isRequired = isRequired
    }

    /// The column that says to which record a row belongs.
    public static let record = TableColumn("record", .integer, "the record that the row belongs to", isRequired: true)
}
