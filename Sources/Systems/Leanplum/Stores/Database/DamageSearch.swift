import Bytes
import SQLite

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
