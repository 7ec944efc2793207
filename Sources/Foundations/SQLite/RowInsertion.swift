import CSQLite

/// Adds rows to a table of a ``NewDatabase``, which it must not outlive.
///
/// The rows are lent to SQLite some hundreds at a time, as a table of their own that one statement reads.
///
/// Source: SQLite, "The Virtual Table Mechanism Of SQLite".
public final class RowInsertion {
    /// A value for a column.
    public enum Value {
        /// NULL.
        case null
        /// A number.
        case integer(Int64)
        /// A binary number.
        case real(Double)
        /// So many bytes of UTF-8 from a place on in a text of many values.
        case text(start: Int, count: Int)
    }

    private let columns: Int
    private let database: NewDatabase
    private let lent: LentRows

    init(_ lent: LentRows, columns: Int, of database: NewDatabase) {
        self.lent = lent
        self.columns = columns
        self.database = database
    }

    /// Adds rows. Texts are not copied before SQLite puts them in their place. After an error the database is of no use.
    /// - Parameters:
    ///   - count: how many rows.
    ///   - text: the bytes of all texts.
    ///   - value: gives the values one after another, row after row, by their number.
    /// - Throws: ``DatabaseError``, also when the database is finished.
    public func add(rows count: Int, text: Span<UInt8>, _ value: (Int) -> Value) throws(DatabaseError) {
        guard let connection = database.handle else { throw DatabaseError(code: SQLITE_MISUSE) }
        let code = text.withUnsafeBufferPointer { text -> Int32 in
            var first = 0
            while first < count {
                let rows = min(LentRows.most, count - first)
                for cell in 0..<rows * columns {
                    lent.cells[cell] = Self.cell(value(first * columns + cell), text.count)
                }
                let code = lent.add(rows, text)
                guard code == SQLITE_OK else { return code }
                first += rows
            }
            return SQLITE_OK
        }
        guard code == SQLITE_OK else { throw DatabaseError(connection, code: code) }
    }

    private static func cell(_ value: Value, _ size: Int) -> csqlite_cell {
        switch value {
        case .null: return csqlite_cell(number: 0, length: 0, kind: csqlite_null.rawValue)
        case .integer(let number): return csqlite_cell(number: number, length: 0, kind: csqlite_integer.rawValue)
        case .real(let number):
            let bits = Int64(bitPattern: number.bitPattern)
            return csqlite_cell(number: bits, length: 0, kind: csqlite_real.rawValue)
        case .text(let start, let count):
            precondition(start >= 0 && count >= 0 && count <= size - start, "a text behind the end")
            return csqlite_cell(number: Int64(start), length: UInt32(count), kind: csqlite_text.rawValue)
        }
    }
}

/// Rows as SQLite reads them, and the statement that takes them in. A ``NewDatabase`` has it until its connection is closed.
final class LentRows {
    /// More rows at a time gain nothing.
    static let most = 256

    let cells: UnsafeMutableBufferPointer<csqlite_cell>
    private let rows: UnsafeMutablePointer<csqlite_rows>
    private var statement: OpaquePointer?

    /// - Parameters:
    ///   - table: that they are added to, as SQL has it.
    ///   - name: what SQLite knows them by.
    /// - Throws: ``DatabaseError``.
    init(into table: String, columns: Int, as name: String, _ connection: OpaquePointer?) throws(DatabaseError) {
        cells = .allocate(capacity: Self.most * columns)
        rows = .allocate(capacity: 1)
        rows.initialize(to: csqlite_rows(cells: cells.baseAddress, text: nil, count: 0, columns: Int32(columns)))
        var code = csqlite_lend_rows(connection, name, rows)
        if code == SQLITE_OK {
            let sql = "INSERT INTO \(table) SELECT * FROM \(name)"
            code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        }
        guard code == SQLITE_OK else { throw DatabaseError(connection, code: code) }
    }

    /// Adds rows whose cells are set.
    /// - Parameter text: the bytes of their texts.
    /// - Returns: a code of SQLite.
    func add(_ count: Int, _ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        defer { (rows.pointee.count, rows.pointee.text) = (0, nil) }
        rows.pointee.count = Int64(count)
        return text.withMemoryRebound(to: CChar.self) { bytes in
            // A null pointer would be NULL.
            rows.pointee.text =
                bytes.baseAddress ?? UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
            let code = sqlite3_step(statement)
            sqlite3_reset(statement)
            return code == SQLITE_DONE ? SQLITE_OK : code
        }
    }

    /// Gives the statement back; without that the connection cannot be closed.
    func end() {
        sqlite3_finalize(statement)
        statement = nil
    }

    deinit {
        end()
        rows.deallocate()
        cells.deallocate()
    }
}
