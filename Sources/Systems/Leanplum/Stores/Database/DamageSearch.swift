import PrivateSQLite

/// The search for the first row behind a damaged place in a table.
///
/// Looking for any row id of a damaged range leads into the damage; looking for one behind it gives a row, or the end. The
/// ids after the start are tried one by one, for the next damage may be near; after more of them than a page has rows, the
/// distance is doubled until one is beyond. Between that one and the last one inside, the first one beyond is found by
/// halving.
struct DamageSearch {
    /// The result of looking for the first row from some id on.
    enum Finding: Equatable {
        /// The row of this id.
        case row(Int64)
        /// No row any more.
        case end
        /// Damage on the way there.
        case damage
    }

    /// An id behind the damage, and the row that looking for it gives; nil for the end of the table.
    private struct Beyond {
        var rowid: Int64
        var row: Int64?
    }

    /// How many ids are tried one by one: a page of the usual size has fewer rows.
    private static let mostSingleTries = 1024

    /// An id whose search leads into the damage: the highest one that is known.
    private var inside: Int64

    /// Looks for the first row from some id on.
    typealias Look = (Int64) throws(PrivateDatabaseError) -> Finding

    /// The first row behind the damage; nil if there is none that can be reached.
    /// - Parameters:
    ///   - start: an id whose search leads into the damage.
    ///   - look: how a row is looked for.
    /// - Throws: what `look` throws.
    static func firstRow(behind start: Int64, _ look: Look) throws(PrivateDatabaseError) -> Int64? {
        // Row ids begin at 1, but for forged ones.
        var search = DamageSearch(inside: max(start, 0))
        guard let beyond = try search.leaveDamage(look) else { return nil }
        return try search.narrow(beyond, look).row
    }

    /// Goes on from id to id until one is behind the damage; nil if the highest id is not.
    private mutating func leaveDamage(_ look: Look) throws(PrivateDatabaseError) -> Beyond? {
        var distance: Int64 = 1
        var tries = 0
        while inside < .max {
            let rowid = Self.sum(inside, distance)
            switch try look(rowid) {
            case .row(let row): return Beyond(rowid: rowid, row: row)
            case .end: return Beyond(rowid: rowid, row: nil)
            case .damage: inside = rowid
            }
            tries += 1
            if tries > Self.mostSingleTries { distance = Self.sum(distance, distance) }
        }
        return nil
    }

    /// Moves both ends of the range that holds the end of the damage until they are neighbours.
    private mutating func narrow(_ end: Beyond, _ look: Look) throws(PrivateDatabaseError) -> Beyond {
        var beyond = end
        while beyond.rowid - inside > 1 {
            let middle = inside + (beyond.rowid - inside) / 2
            switch try look(middle) {
            case .row(let row): beyond = Beyond(rowid: middle, row: row)
            case .end: beyond = Beyond(rowid: middle, row: nil)
            case .damage: inside = middle
            }
        }
        return beyond
    }

    /// The sum of two numbers that are not negative, or the highest number.
    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isOver) = left.addingReportingOverflow(right)
        return isOver ? .max : sum
    }
}
