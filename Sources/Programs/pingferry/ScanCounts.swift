import Bundle

/// The counts of records and events for all rows of a scanned input.
///
/// A capture can have hundreds of thousands of stores, so each row takes only a few bytes. The names of counts are
/// stored once. Only the row that was counted last has a dictionary, because consecutive records usually belong to the
/// same row.
struct ScanCounts {
    /// The subject of a count.
    enum Name: Hashable {
        /// The records of a type, counted separately depending on whether they may be uploaded.
        case type(system: String, type: String, isUploadable: Bool)
        /// The records that are held for the given code.
        case held(code: String)
        /// The events with a documented meaning, or the events without one if `meaning` is `nil`.
        case event(meaning: String?)
    }

    private var names = NumberedValues<Name>()
    private var stored: [(name: UInt32, count: Int)] = []
    private var ranges: [Range<UInt32>]
    private var openRow = 0
    private var openCounts: [Name: Int] = [:]

    init(rows: Int) { ranges = Array(repeating: 0..<0, count: rows) }

    /// Adds 1 to a count of a row.
    mutating func count(_ name: Name, ofRow row: Int) {
        if row != openRow { open(row) }
        openCounts[name, default: 0] += 1
    }

    /// Returns the nonzero counts of a row.
    func counts(ofRow row: Int) -> [Name: Int] { row == openRow ? openCounts : storedCounts(ofRow: row) }

    private mutating func open(_ row: Int) {
        let start = UInt32(stored.count)
        for (name, count) in openCounts { stored.append((names.number(of: name), count)) }
        ranges[openRow] = start..<UInt32(stored.count)
        openRow = row
        openCounts = storedCounts(ofRow: row)
    }

    private func storedCounts(ofRow row: Int) -> [Name: Int] {
        let range = Int(ranges[row].lowerBound)..<Int(ranges[row].upperBound)
        return Dictionary(uniqueKeysWithValues: stored[range].map { (names[$0.name], $0.count) })
    }
}
