/// The declaration of a table in an export.
///
/// SQLite, CSV, `--help` and the documentation are derived from the declaration.
///
/// ```swift
/// let searches = Table(
///     ofRecords: "searches", aRowForEach: "search count of a core ping",
///     [
///         TableColumn("engine", .text, "the search engine", isRequired: true),
///         TableColumn("count", .integer, "the number of searches"),
///     ])
/// ```
///
/// Source: "Exports", section 1.
public struct Table: Sendable {
    /// The name of the table, which is a lowercase word.
    public let name: String
    /// The meaning of one row, such as `event in a record of any system`.
    public let rowMeaning: String
    /// The columns, in the order of the cells in a row.
    public let columns: [TableColumn]
    /// The names of the columns that together uniquely identify a row.
    public let key: [String]
    /// The names of the columns of each SQLite index, except for the index of ``key``.
    public let indexes: [[String]]
    /// Whether each row belongs to a record.
    ///
    /// If so, the first column, `record`, contains the number of the record.
    public let belongsToRecords: Bool

    /// Creates a table with exactly the given columns.
    public init(
        _ name: String, aRowForEach rowMeaning: String, _ columns: [TableColumn], key: [String],
        indexes: [[String]] = [], belongsToRecords: Bool = false
    ) {
        self.name = name
        self.rowMeaning = rowMeaning
        self.columns = columns
        self.key = key
        self.indexes = indexes
        self.belongsToRecords = belongsToRecords
    }

    /// Creates a table with rows for parts of records.
    ///
    /// The first columns of the table are the number of the record and the number of the row within the record.
    public init(
        ofRecords name: String, aRowForEach rowMeaning: String, _ columns: [TableColumn], indexes: [[String]] = []
    ) {
        let number = TableColumn(
            "n", .integer, "the index of the row among the rows of the record, from 0", isRequired: true)
        self.init(
            name, aRowForEach: rowMeaning, [.record, number] + columns, key: ["record", "n"], indexes: indexes,
            belongsToRecords: true)
    }
}

/// A column of a table.
public struct TableColumn: Sendable {
    /// The type of the values of a column.
    public enum Kind: Sendable {
        /// A 64-bit integer.
        case integer
        /// An integer that is 0 for false and 1 for true.
        case flag
        /// A 64-bit floating-point number.
        case real
        /// A string.
        case text
        /// An instant as a string of 24 bytes: RFC 3339, UTC, with milliseconds.
        case time
        /// Canonical JSON as a string.
        case json
    }

    /// A description of the type, such as `INTEGER, 0 or 1 or NULL`.
    public var typeDescription: String {
        let type =
            switch kind {
            case .integer: "INTEGER"
            case .flag: "INTEGER, 0 or 1"
            case .real: "REAL"
            case .text, .time: "TEXT"
            case .json: "TEXT, JSON"
            }
        return type + (isRequired ? "" : " or NULL")
    }

    /// The name of the column.
    public let name: String
    /// The type of the values.
    public let kind: Kind
    /// The meaning of the values.
    public let meaning: String
    /// Whether each row has a value in the column.
    public let isRequired: Bool

    /// Creates a column.
    ///
    /// The column can contain NULL unless `isRequired` is `true`.
    public init(_ name: String, _ kind: Kind, _ meaning: String, isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.isRequired = isRequired
    }

    /// The column with the number of the record that a row belongs to.
    public static let record = TableColumn(
        "record", .integer, "the number of the record that the row belongs to", isRequired: true)
}
