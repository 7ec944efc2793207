import JSONText

/// A table of an export.
///
/// SQLite, CSV, Parquet, `--help` and the documentation are derived from the table.
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
    /// The indices of the columns among the columns of the ``RowTable``.
    let sourceIndices: [Int]

    /// Creates a table with exactly the given columns.
    public init(
        _ name: String, aRowForEach rowMeaning: String, _ columns: [TableColumn], key: [String],
        indexes: [[String]] = []
    ) {
        self.init(name, rowMeaning, columns, key, indexes, sourceIndices: Array(columns.indices))
    }

    private init(
        _ name: String, _ rowMeaning: String, _ columns: [TableColumn], _ key: [String], _ indexes: [[String]],
        sourceIndices: [Int]
    ) {
        self.name = name
        self.rowMeaning = rowMeaning
        self.columns = columns
        self.key = key
        self.indexes = indexes
        self.sourceIndices = sourceIndices
    }

    /// Returns the table with only the columns in `names`, which must include those of the key.
    public func keeping(columns names: [String]) -> Table {
        let kept = columns.indices.filter { names.contains(columns[$0].name) }
        return Table(name, rowMeaning, kept.map { columns[$0] }, key, [], sourceIndices: kept)
    }
}

/// The name, the type and the meaning of a column of a table.
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

        /// Creates the type of the column for a field of the given form.
        public init(_ form: PayloadForm) {
            switch form {
            case .version, .integer: self = .integer
            case .boolean: self = .flag
            case .number: self = .real
            case .string: self = .text
            case .orNull(let form): self.init(form)
            case .any, .list, .structure, .object, .open, .map: self = .json
            }
        }
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
    /// Whether the values are the numbers of records to which the rows belong.
    public let refersToRecord: Bool

    /// Creates a column.
    ///
    /// The column can contain NULL unless `isRequired` is `true`.
    public init(
        _ name: String, _ kind: Kind, _ meaning: String, isRequired: Bool = false, refersToRecord: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.isRequired = isRequired
        self.refersToRecord = refersToRecord
    }
}

// MARK: - Rows

/// A table whose columns return their cells for a value of the type `Row`.
///
/// ```swift
/// let searches = RowTable<(engine: String, count: Int?)>(
///     ofRecords: "searches", aRowForEach: "search count of a core ping",
///     [
///         .text("engine", "the search engine") { $0.engine },
///         .integer("count", "the number of searches") { $0.count },
///     ])
/// ```
public struct RowTable<Row>: Sendable {
    /// The table without the functions that return cells.
    public let table: Table
    let sources: [Column<Row>.Source]

    /// Creates a table with exactly the given columns.
    public init(
        _ name: String, aRowForEach rowMeaning: String, key: [String], indexes: [[String]] = [],
        _ columns: [Column<Row>]
    ) {
        table = Table(name, aRowForEach: rowMeaning, columns.map(\.declaration), key: key, indexes: indexes)
        sources = columns.map(\.source)
    }

    /// Creates a table whose first column contains the number of the row.
    public init(
        numbered name: String, _ numberMeaning: String = "the row number, from 1", aRowForEach rowMeaning: String,
        indexes: [[String]] = [], _ columns: [Column<Row>]
    ) {
        self.init(name, aRowForEach: rowMeaning, key: ["n"], indexes: indexes, [.number(numberMeaning)] + columns)
    }

    /// Creates a table with rows for parts of records.
    ///
    /// The first columns of the table are the number of the record and the index of the row within the record.
    public init(
        ofRecords name: String, aRowForEach rowMeaning: String, indexes: [[String]] = [], _ columns: [Column<Row>]
    ) {
        let index: Column<Row> = .number("the index of the row among the rows of the record, from 0")
        self.init(name, aRowForEach: rowMeaning, key: ["record", "n"], indexes: indexes, [.record, index] + columns)
    }
}

/// The position of a row in a table.
public struct RowPlace: Sendable {
    /// The number of the record that the row belongs to, or null.
    public var record = Cell.null
    /// The number of the row, which is counted from 0 for each record, or from 1 if the row belongs to no record.
    public var number: Int

    /// Creates the position of the row with the number `number`.
    public init(record: Cell = .null, number: Int) {
        self.record = record
        self.number = number
    }
}

/// A column of a table, and the function that returns its cell for a row.
///
/// A column whose function returns an optional value can contain NULL.
public struct Column<Row>: Sendable {
    /// The source of the cells.
    ///
    /// Functions that capture nothing are not wrapped in other functions, because they are called for each event.
    enum Source: Sendable {
        case record
        case number
        case cell(@Sendable (Row) -> Cell)
        case stored(@Sendable (Row, inout RowBuffer) -> Cell)
    }

    let declaration: TableColumn
    let source: Source

    private init(_ declaration: TableColumn, _ source: Source) {
        self.declaration = declaration
        self.source = source
    }

    /// The number of the record that a row belongs to.
    public static var record: Self {
        let meaning = "the number of the record that the row belongs to"
        return Self(.init("record", .integer, meaning, isRequired: true, refersToRecord: true), .record)
    }

    /// Creates a column of row numbers, as described for ``RowPlace/number``.
    public static func number(_ meaning: String, name: String = "n") -> Self {
        Self(.init(name, .integer, meaning, isRequired: true), .number)
    }

    /// Creates a column of cells.
    public static func cell(
        _ name: String, _ kind: TableColumn.Kind, _ meaning: String, isRequired: Bool = false,
        _ cell: @escaping @Sendable (Row) -> Cell
    ) -> Self {
        Self(.init(name, kind, meaning, isRequired: isRequired), .cell(cell))
    }

    /// Creates a column of cells that `cell` stores in a buffer.
    public static func stored(
        _ name: String, _ kind: TableColumn.Kind, _ meaning: String, isRequired: Bool = false,
        _ cell: @escaping @Sendable (Row, inout RowBuffer) -> Cell
    ) -> Self {
        Self(.init(name, kind, meaning, isRequired: isRequired), .stored(cell))
    }

    /// Creates a column of strings.
    public static func text(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> String) -> Self {
        stored(name, .text, meaning, isRequired: true) { $1.keep(value($0)) }
    }

    /// Creates a column of strings or NULL.
    public static func text(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> String?) -> Self {
        stored(name, .text, meaning) { $1.keep(value($0)) }
    }

    /// Creates a column of integers.
    public static func integer<Number: SignedInteger & SendableMetatype>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Number
    ) -> Self {
        cell(name, .integer, meaning, isRequired: true) { .integer(Int64(value($0))) }
    }

    /// Creates a column of integers or NULL.
    public static func integer<Number: SignedInteger & SendableMetatype>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Number?
    ) -> Self {
        cell(name, .integer, meaning) { value($0).map { .integer(Int64($0)) } ?? .null }
    }

    /// Creates a column of flags.
    public static func flag(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Bool) -> Self {
        cell(name, .flag, meaning, isRequired: true) { .flag(value($0)) }
    }

    /// Creates a column of instants or NULL.
    public static func time(_ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Timestamp?) -> Self
    {
        stored(name, .time, meaning) { row, buffer in value(row).map { buffer.keep($0) } ?? .null }
    }

    /// Creates a column of canonical JSON.
    public static func json<Value: CanonicalValue & SendableMetatype>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Value
    ) -> Self {
        stored(name, .json, meaning, isRequired: true) { $1.keep(json: value($0)) }
    }

    /// Creates a column of canonical JSON or NULL.
    public static func json<Value: CanonicalValue & SendableMetatype>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Self {
        stored(name, .json, meaning) { row, buffer in value(row).map { buffer.keep(json: $0) } ?? .null }
    }
}
