import Bundle
import Bytes

/// The counts of records and events for all rows of a scanned input.
///
/// A capture can have hundreds of thousands of stores, so each row takes only a few bytes. The names of counts are
/// stored once. Only the row that was counted last has a dictionary, because consecutive records usually belong to the
/// same row.
struct ScanCounts {
    /// The subject of a count.
    enum Name: Hashable {
        /// The records of a type, counted separately depending on whether they may be uploaded.
        case type(system: CapturedText, type: CapturedText, isUploadable: Bool)
        /// The records that are held for the given code.
        case held(code: CapturedText)
        /// The events with a documented meaning, or the events without one if `meaning` is `nil`.
        case event(meaning: CapturedText?)
    }

    private var names = NumberedValues<Name>()
    private var storedEntries: [(name: UInt32, count: Int)] = []
    private var rowRanges: [Range<UInt32>]
    private var currentRow = 0
    private var currentCounts: [Name: Int] = [:]

    init(rows: Int) { rowRanges = Array(repeating: 0..<0, count: rows) }

    /// Adds 1 to the count with the subject `name` in the row at index `row`.
    mutating func count(_ name: Name, ofRow row: Int) {
        if row != currentRow { begin(row: row) }
        currentCounts[name, default: 0] += 1
    }

    /// Returns the nonzero counts of a row.
    func counts(ofRow row: Int) -> [Name: Int] { row == currentRow ? currentCounts : storedCounts(ofRow: row) }

    private mutating func begin(row: Int) {
        let start = UInt32(storedEntries.count)
        // The order of the entries is not visible, because they become a dictionary again.
        for (name, count) in currentCounts { storedEntries.append((names.number(of: name), count)) }
        rowRanges[currentRow] = start..<UInt32(storedEntries.count)
        currentRow = row
        currentCounts = storedCounts(ofRow: row)
    }

    private func storedCounts(ofRow row: Int) -> [Name: Int] {
        let range = Int(rowRanges[row].lowerBound)..<Int(rowRanges[row].upperBound)
        return Dictionary(uniqueKeysWithValues: storedEntries[range].map { (names[$0.name], $0.count) })
    }
}
