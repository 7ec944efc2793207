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
