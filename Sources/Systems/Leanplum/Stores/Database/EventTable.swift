import PrivateSQLite

/// The rows of Leanplum's event table in their order, past what is damaged.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.2, E.3 and E.4.
package struct EventTable: ~Copyable {
    /// The next row, or a fault.
    package enum Item: Sendable {
        /// A row. What is no text in the database is one here, as JSON writes it.
        case row(rowid: Int64, data: [UInt8], isBLOB: Bool)
        /// A row of more bytes than one may have.
        case tooLarge(rowid: Int64)
        /// There may have been rows with these ids; without an end, they are all that followed.
        case lost(from: Int64, through: Int64?)
    }

    private let rows: PrivateStatement
    private let rowids: PrivateStatement
    /// The lowest rowid that has not been dealt with; nil at the end.
    private var next: Int64? = .min
    /// Whether `rows` is about to give `next`.
    private var isStarted = false
    private var damages = 0
    private var bytesLeft: Int

    /// How many damaged places are passed; what follows the next one is given up.
    private static let mostDamages = 1000
    /// Rows that come to more than this many times the size of the database share pages, which only a forged one does.
    private static let mostSharing = 4

    /// Begins before the first row of a table whose schema is ``EventSchema``'s.
    /// - Parameter size: the bytes of the database.
    /// - Throws: ``PrivateDatabaseError``.
    package init(_ database: PrivateDatabase, size: Int) throws(PrivateDatabaseError) {
        let rows = try PrivateStatement(
            "SELECT rowid, data FROM event NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid", in: database)
        let rowids = try PrivateStatement(
            "SELECT rowid FROM event NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", in: database)
        self.rows = rows
        self.rowids = rowids
        bytesLeft = Self.mostSharing * size + EventSchema.rowLimit
    }

    /// The next row, or what stands in its place; nil at the end.
    /// - Throws: ``PrivateDatabaseError`` if it is not the database's fault, or if reading takes too much.
    package mutating func read() throws(PrivateDatabaseError) -> Item? {
        guard let wanted = next else { return nil }
        do throws(PrivateDatabaseError) {
            if !isStarted {
                try rows.start(with: wanted)
                isStarted = true
            }
            guard try rows.step() else {
                next = nil
                return nil
            }
        } catch {
            isStarted = false
            rows.reset()
            // If the row id cannot be read either, the row is passed over like a damaged one.
            if error.isTooLarge, let rowid = try? rowid(from: wanted) {
                goOn(after: rowid)
                return .tooLarge(rowid: rowid)
            }
            guard error.isDamage || error.isTooLarge else { throw error }
            return try pass(from: wanted)
        }
        return try row(from: wanted)
    }

    private mutating func row(from wanted: Int64) throws(PrivateDatabaseError) -> Item {
        let rowid = rows.integer(0)
        guard rowid >= wanted else {
            isStarted = false
            return try pass(from: wanted)
        }
        let kind = rows.kind(1)
        let data = kind == .null ? Array("null".utf8) : rows.bytes(1)
        bytesLeft -= data.count
        guard bytesLeft >= 0 else { throw .outOfBudget }
        goOn(after: rowid)
        return .row(rowid: rowid, data: data, isBLOB: kind == .blob)
    }

    private mutating func goOn(after rowid: Int64) {
        next = rowid == .max ? nil : rowid + 1
    }

    // MARK: Damage

    /// Goes on at the first row behind a damaged place that can be reached.
    private mutating func pass(from wanted: Int64) throws(PrivateDatabaseError) -> Item {
        damages += 1
        if damages <= Self.mostDamages {
            // A row that can be found has its damage in its own contents.
            if case .row(let rowid?) = try look(from: wanted) {
                goOn(after: rowid)
                return .lost(from: rowid, through: rowid)
            }
            if let rowid = try rowidBehindDamage(from: wanted) {
                next = rowid
                return .lost(from: wanted, through: rowid - 1)
            }
        }
        next = nil
        return .lost(from: wanted, through: nil)
    }

    /// The first row behind damage in the tree of pages; nil if there is none.
    private func rowidBehindDamage(from wanted: Int64) throws(PrivateDatabaseError) -> Int64? {
        try DamageSearch.firstRow(behind: wanted) { rowid throws(PrivateDatabaseError) in try look(from: rowid) }
    }

    private func look(from wanted: Int64) throws(PrivateDatabaseError) -> DamageSearch.Finding {
        do throws(PrivateDatabaseError) {
            guard let rowid = try rowid(from: wanted) else { return .row(nil) }
            return rowid >= wanted ? .row(rowid) : .damage
        } catch {
            guard error.isDamage else { throw error }
            return .damage
        }
    }

    /// The lowest rowid from one on.
    private func rowid(from wanted: Int64) throws(PrivateDatabaseError) -> Int64? {
        defer { rowids.reset() }
        try rowids.start(with: wanted)
        return try rowids.step() ? rowids.integer(0) : nil
    }
}
