/// Counts of keys that a capture names, so that there may be any number of them: the first ones are counted one by one, all
/// others together.
///
/// The order of the keys is that in which they were first met, so that equal input gives equal counts.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    /// The keys with their counts, in the order in which the keys were met.
    private(set) var entries: [(key: Key, count: Int)] = []
    /// How much was counted of keys beyond the limit.
    private(set) var other = 0
    private var places: [Key: Int] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// What was counted of a key; 0 for one that is not told apart.
    subscript(key: Key) -> Int { places[key].map { entries[$0].count } ?? 0 }

    var keys: [Key] { entries.map(\.key) }

    var total: Int { entries.reduce(other) { $0.addingWithinBounds($1.count) } }

    var isEmpty: Bool { entries.isEmpty && other == 0 }

    mutating func add(_ key: Key, _ count: Int = 1) {
        if let place = places[key] {
            entries[place].count = entries[place].count.addingWithinBounds(count)
        } else if entries.count < limit {
            places[key] = entries.count
            entries.append((key, count))
        } else {
            other = other.addingWithinBounds(count)
        }
    }

    mutating func add(_ later: BoundedCounts) {
        for (key, count) in later.entries { add(key, count) }
        other = other.addingWithinBounds(later.other)
    }

    /// The keys with their counts, the largest first; of equal ones, the one first met.
    var largestFirst: [(key: Key, count: Int)] {
        entries.enumerated()
            .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }
}

extension Int {
    /// The sum, or the largest number where that is too small for it: what a capture counts may be any number.
    fileprivate func addingWithinBounds(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
