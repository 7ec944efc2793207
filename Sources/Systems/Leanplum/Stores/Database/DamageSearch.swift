import PrivateSQLite

/// The search for the first row behind a damaged place in a table.
///
/// Looking for any row id of a damaged range leads into the damage; looking for one behind it gives a row, or the end. The
/// ids after the start are tried one by one, for the next damage may be near; after more of them than a page has rows, the
/// distance is doubled until one is beyond. Between that one and the last one inside, the first one beyond is found by
/// halving.
enum DamageSearch {
    /// The result of looking for the first row from an id on.
    enum Finding: Equatable {
        /// The id of the row, or `nil` at the end of the table.
        case row(Int64?)
        /// Damage on the way there.
        case damage
    }

    /// The number of ids that are tried one by one. A page of the usual size has fewer rows.
    private static let mostSingleTries = 1024

    /// Looks for the first row from an id on.
    typealias Look = (Int64) throws(PrivateDatabaseError) -> Finding

    /// Returns the id of the first row behind the damage, or `nil` if no row can be reached.
    /// - Parameters:
    ///   - start: An id whose search leads into the damage.
    ///   - look: Looks for a row.
    /// - Throws: The errors of `look`.
    static func firstRow(behind start: Int64, _ look: Look) throws(PrivateDatabaseError) -> Int64? {
        // Row ids start at 1, unless they are forged.
        var inside = max(start, 0)
        guard var beyond = try firstTry(beyondDamageFrom: &inside, look) else { return nil }
        while beyond.rowid - inside > 1 {
            let middle = inside + (beyond.rowid - inside) / 2
            switch try look(middle) {
            case .row(let row): beyond = (middle, row)
            case .damage: inside = middle
            }
        }
        return beyond.row
    }

    /// Returns an id behind the damage and the row that is found from there, or `nil` if the highest id is damaged.
    /// - Parameter inside: The highest id whose search is known to lead into the damage.
    private static func firstTry(
        beyondDamageFrom inside: inout Int64, _ look: Look
    ) throws(PrivateDatabaseError) -> (rowid: Int64, row: Int64?)? {
        var distance: Int64 = 1
        var tries = 0
        while inside < .max {
            let rowid = sum(inside, distance)
            switch try look(rowid) {
            case .row(let row): return (rowid, row)
            case .damage: inside = rowid
            }
            tries += 1
            if tries > mostSingleTries { distance = sum(distance, distance) }
        }
        return nil
    }

    /// The sum of two numbers that are not negative, or the highest number.
    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isOver) = left.addingReportingOverflow(right)
        return isOver ? .max : sum
    }
}
