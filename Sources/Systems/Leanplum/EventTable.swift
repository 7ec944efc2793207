import Bytes
import SQLite

/// A reader for the rows of Leanplum's event table.
///
/// Damaged rows are skipped.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.2, E.3 and E.4.
package struct EventTable: ~Copyable {
    /// A row, or a gap in the rows.
    package enum Item: Sendable {
        /// A row. A value that is neither a string nor a BLOB is converted to JSON.
        case row(rowid: Int64, data: [UInt8], isBLOB: Bool)
        /// A row that exceeds the maximum size.
        case tooLarge(rowid: Int64)
        /// A gap. The rows from the id `from` to the id `through`, or to the end if `through` is `nil`, may have been
        /// lost.
        case lostRows(from: Int64, through: Int64?)
    }

    private let rowStatement: PrivateStatement
    private let rowidStatement: PrivateStatement
    /// The lowest row id that has not been read, or `nil` at the end.
    private var nextRowid: Int64? = .min
    /// Whether the next step of the statement `rowStatement` continues at the row id ``nextRowid``.
    private var isRowStatementStarted = false
    private var damagedRangeCount = 0
    /// The budget for the bytes of all rows.
    package private(set) var budget: WorkBudget

    /// The maximum number of damaged ranges that are skipped before reading stops.
    private static let maximumDamagedRangeCount = 1000
    /// The maximum ratio of the size of all rows to the size of the database.
    ///
    /// A higher ratio means that rows share pages, which occurs only in a forged database.
    private static let maximumSizeRatio = 4

    /// Creates a reader for a table that was accepted by ``EventSchema``.
    package init(_ database: PrivateDatabase, size: Int) throws(PrivateDatabaseError) {
        let rowStatement = try PrivateStatement(
            "SELECT rowid, data FROM event NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid", in: database)
        let rowidStatement = try PrivateStatement(
            "SELECT rowid FROM event NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", in: database)
        self.rowStatement = rowStatement
        self.rowidStatement = rowidStatement
        budget = WorkBudget(bytes: Self.maximumSizeRatio * size + EventSchema.rowSizeLimit)
    }

    /// Returns the next row or gap, or `nil` at the end of the table.
    package mutating func read() throws(PrivateDatabaseError) -> Item? {
        guard let start = nextRowid else { return nil }
        do throws(PrivateDatabaseError) {
            if !isRowStatementStarted {
                try rowStatement.start(with: start)
                isRowStatementStarted = true
            }
            guard try rowStatement.step() else {
                nextRowid = nil
                return nil
            }
        } catch {
            isRowStatementStarted = false
            rowStatement.reset()
            // If the row id cannot be read either, the row is treated as damaged.
            if error.isTooLarge, let rowid = try? firstRowid(from: start) {
                advance(past: rowid)
                return .tooLarge(rowid: rowid)
            }
            guard error.indicatesDamage || error.isTooLarge else { throw error }
            return try skipDamage(from: start)
        }
        return try row(from: start)
    }

    private mutating func row(from start: Int64) throws(PrivateDatabaseError) -> Item {
        let rowid = rowStatement.integer(0)
        guard rowid >= start else {
            isRowStatementStarted = false
            return try skipDamage(from: start)
        }
        let kind = rowStatement.kind(1)
        let data = kind == .null ? Array("null".utf8) : rowStatement.bytes(1)
        guard budget.charge(nodes: 1, bytes: data.count) else { throw .outOfBudget }
        advance(past: rowid)
        return .row(rowid: rowid, data: data, isBLOB: kind == .blob)
    }

    private mutating func advance(past rowid: Int64) { nextRowid = rowid == .max ? nil : rowid + 1 }

    // MARK: Damage

    /// Returns the gap at `start`, and continues at the first readable row after the gap.
    private mutating func skipDamage(from start: Int64) throws(PrivateDatabaseError) -> Item {
        damagedRangeCount += 1
        if damagedRangeCount <= Self.maximumDamagedRangeCount {
            // If the lookup succeeds, only the contents of the row are damaged.
            if case .row(let rowid?) = try lookUpRow(from: start) {
                advance(past: rowid)
                return .lostRows(from: rowid, through: rowid)
            }
            if let rowid = try rowidAfterDamage(from: start) {
                nextRowid = rowid
                return .lostRows(from: start, through: rowid - 1)
            }
        }
        nextRowid = nil
        return .lostRows(from: start, through: nil)
    }

    /// Returns the id of the first row after damaged pages, or `nil` if there is none.
    private func rowidAfterDamage(from start: Int64) throws(PrivateDatabaseError) -> Int64? {
        try DamageSearch.firstRowid(after: start) { rowid throws(PrivateDatabaseError) in try lookUpRow(from: rowid) }
    }

    private func lookUpRow(from start: Int64) throws(PrivateDatabaseError) -> DamageSearch.Finding {
        do throws(PrivateDatabaseError) {
            guard let rowid = try firstRowid(from: start) else { return .row(nil) }
            return rowid >= start ? .row(rowid) : .damage
        } catch {
            guard error.indicatesDamage else { throw error }
            return .damage
        }
    }

    /// Returns the lowest row id that is not less than `start`, or `nil` if there is none.
    private func firstRowid(from start: Int64) throws(PrivateDatabaseError) -> Int64? {
        defer { rowidStatement.reset() }
        try rowidStatement.start(with: start)
        return try rowidStatement.step() ? rowidStatement.integer(0) : nil
    }
}

// MARK: - Schema

/// A check that a database contains Leanplum's event table.
///
/// The check rejects a view with the name of the table, because reading a view can take forever.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section E.3.
package enum EventSchema {
    /// The maximum size of a row in bytes.
    package static let rowSizeLimit = 16 << 20

    /// The reason why a database has no readable events.
    package struct SchemaError: Error {
        /// The code: `no_event_table` or `unsupported_schema`.
        package let code: String
        package let reason: String

        static let noTable = SchemaError(code: "no_event_table", reason: "the database has no table named event")

        static func unsupported(_ reason: String) -> SchemaError {
            SchemaError(code: "unsupported_schema", reason: reason)
        }
    }

    /// Returns the number of other objects in the schema, or an error if the event table cannot be read.
    package static func check(_ database: PrivateDatabase) throws(PrivateDatabaseError) -> Result<Int, SchemaError> {
        let objects = try PrivateStatement("SELECT name, type, sql FROM sqlite_schema", in: database)
        var events = 0
        var isTable = false
        var otherObjects = 0
        while try objects.step() {
            guard objects.text(0) == "event" else {
                otherObjects += 1
                continue
            }
            events += 1
            isTable = objects.text(1) == "table" && objects.text(2).hasPrefix("CREATE TABLE")
        }
        guard events > 0 else { return .failure(.noTable) }
        guard events == 1, isTable else { return .failure(.unsupported("event is no plain table")) }
        if let fault = try columnError(in: database) { return .failure(fault) }
        let tables = try PrivateStatement("PRAGMA table_list(event)", in: database)
        while try tables.step() {
            guard tables.integer(4) == 0 else { return .failure(.unsupported("event has no row ids")) }
        }
        return .success(otherObjects)
    }

    private static func columnError(in database: PrivateDatabase) throws(PrivateDatabaseError) -> SchemaError? {
        let columns = try PrivateStatement("PRAGMA table_xinfo(event)", in: database)
        var hasData = false
        while try columns.step() {
            let name = columns.text(1).lowercased()
            // The value is 1 for a hidden column, and 2 or 3 for a generated one.
            guard columns.integer(6) == 0 else { return .unsupported("event has hidden or generated columns") }
            // A column with one of these names would hide the row ids.
            if ["rowid", "oid", "_rowid_"].contains(name) { return .unsupported("event has a column named \(name)") }
            if name == "data" { hasData = true }
        }
        return hasData ? nil : .unsupported("event has no column named data")
    }
}

// MARK: - Damaged rows

/// A search for the first row after a damaged part of a table.
///
/// A lookup of a row id in the damaged range fails. A lookup of a later id finds a row or the end of the table. First,
/// ids are tried one by one, because only a few may be damaged. Then the distance is doubled until an id after the
/// damage is found. A binary search then finds the first such id.
enum DamageSearch {
    /// The result of a lookup of the first row whose id is not less than a given id.
    enum Finding: Equatable {
        /// The id of the row, or `nil` at the end of the table.
        case row(Int64?)
        /// The lookup failed because of damage.
        case damage
    }

    /// The number of consecutive ids that are looked up before the search begins to skip ids.
    ///
    /// A page of the default size contains fewer rows.
    private static let maximumSingleStepCount = 1024

    /// A function that looks up the first row whose id is not less than the argument.
    typealias RowSearch = (Int64) throws(PrivateDatabaseError) -> Finding

    /// Returns the id of the first row after the damage, or `nil` if no row can be reached.
    static func firstRowid(after start: Int64, _ search: RowSearch) throws(PrivateDatabaseError) -> Int64? {
        // Row ids start at 1, unless they are forged.
        var damagedRowid = max(start, 0)
        guard var beyond = try firstFoundRowid(beyondDamageFrom: &damagedRowid, search) else { return nil }
        while beyond.rowid - damagedRowid > 1 {
            let middle = damagedRowid + (beyond.rowid - damagedRowid) / 2
            switch try search(middle) {
            case .row(let row): beyond = (middle, row)
            case .damage: damagedRowid = middle
            }
        }
        return beyond.row
    }

    /// Returns an id after the damage and the id of the first row from there on, or `nil` if there is no id after the
    /// damage.
    ///
    /// Sets `damagedRowid` to the last id that was found to be damaged.
    private static func firstFoundRowid(
        beyondDamageFrom damagedRowid: inout Int64, _ search: RowSearch
    ) throws(PrivateDatabaseError) -> (rowid: Int64, row: Int64?)? {
        var distance: Int64 = 1
        var tries = 0
        while damagedRowid < .max {
            let rowid = damagedRowid.addingSaturated(distance)
            switch try search(rowid) {
            case .row(let row): return (rowid, row)
            case .damage: damagedRowid = rowid
            }
            tries += 1
            if tries >= maximumSingleStepCount { distance = distance.addingSaturated(distance) }
        }
        return nil
    }
}
