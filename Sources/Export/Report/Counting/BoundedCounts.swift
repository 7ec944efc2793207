/// Counts occurrences of a limited number of keys.
///
/// Keys beyond the limit are counted together, because a capture can contain any number of keys. Keys are stored in the
/// order of their first occurrence, so that equal input has equal results.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    private(set) var entries: [(key: Key, count: Int)] = []
    /// The total count of the keys beyond the limit.
    private(set) var otherCount = 0
    private var indices: [Key: Int] = [:]
    private let keyLimit: Int

    init(keyLimit: Int) {
        self.keyLimit = keyLimit
    }

    /// Returns the count of a key, or 0 if the key is not counted separately.
    subscript(key: Key) -> Int { indices[key].map { entries[$0].count } ?? 0 }

    var keys: [Key] { entries.map(\.key) }

    var total: Int { entries.reduce(otherCount) { $0.addingSaturated($1.count) } }

    var isEmpty: Bool { entries.isEmpty && otherCount == 0 }

    mutating func add(_ key: Key, _ count: Int = 1) {
        if let index = indices[key] {
            entries[index].count = entries[index].count.addingSaturated(count)
        } else if entries.count < keyLimit {
            indices[key] = entries.count
            entries.append((key, count))
        } else {
            otherCount = otherCount.addingSaturated(count)
        }
    }

    mutating func add(_ later: BoundedCounts) {
        for (key, count) in later.entries { add(key, count) }
        otherCount = otherCount.addingSaturated(later.otherCount)
    }

    /// The keys and their counts, sorted by count in descending order.
    var largestFirst: [(key: Key, count: Int)] {
        entries.enumerated()
            .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }
}

extension Int {
    /// Returns the sum, or the maximum integer on overflow.
    ///
    /// An overflow is possible, because a capture can contain arbitrarily large counts.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, hasOverflowed) = addingReportingOverflow(other)
        return hasOverflowed ? .max : sum
    }
}
