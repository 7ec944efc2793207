/// Counts of keys that a capture names, so that there may be any number of them: the first ones are counted one by one, all
/// others together.
///
/// The order of the keys is that in which they were first met, so that equal input gives equal counts.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    /// The keys in the order in which they were met.
    private(set) var keys: [Key] = []
    /// How much was counted of each of them.
    private(set) var counts: [Int] = []
    /// How much was counted of keys beyond the limit.
    private(set) var other = 0
    private var places: [Key: Int] = [:]
    private let limit: Int

    /// - Parameter limit: how many keys are told apart.
    init(limit: Int) {
        self.limit = limit
    }

    /// What was counted of a key; 0 for one that is not told apart.
    subscript(key: Key) -> Int { places[key].map { counts[$0] } ?? 0 }

    /// All that was counted.
    var total: Int { counts.reduce(other) { $0.addingWithinBounds($1) } }

    var isEmpty: Bool { keys.isEmpty && other == 0 }

    mutating func add(_ key: Key, _ count: Int = 1) {
        if let place = places[key] {
            counts[place] = counts[place].addingWithinBounds(count)
        } else if keys.count < limit {
            places[key] = keys.count
            keys.append(key)
            counts.append(count)
        } else {
            other = other.addingWithinBounds(count)
        }
    }

    /// Adds what was counted of records that come later.
    mutating func add(_ later: BoundedCounts) {
        for (key, count) in zip(later.keys, later.counts) { add(key, count) }
        other = other.addingWithinBounds(later.other)
    }

    /// The keys with their counts, the largest first; of equal ones, the one first met.
    var largestFirst: [(key: Key, count: Int)] {
        zip(keys, counts).enumerated()
            .sorted { ($1.element.1, $0.offset) < ($0.element.1, $1.offset) }
            .map { (key: $0.element.0, count: $0.element.1) }
    }
}

extension Int {
    /// The sum, or the largest number where that is too small for it: what a capture counts may be any number.
    fileprivate func addingWithinBounds(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
