/// Counts by key, quick where the same key comes again and again, as the types of records do.
struct Tally<Key: Hashable & Sendable>: Sendable {
    private var indices: [Key: Int] = [:]
    private var entries: [(key: Key, count: Int)] = []
    private var last = 0

    /// The counts.
    var counts: [Key: Int] { indices.mapValues { entries[$0].count } }

    /// Counts a key.
    mutating func add(_ key: Key, _ count: Int = 1) {
        if last >= entries.count || entries[last].key != key {
            last = indices[key] ?? entries.count
            if last == entries.count {
                indices[key] = last
                entries.append((key, 0))
            }
        }
        entries[last].count += count
    }

    /// Adds other counts.
    mutating func add(_ other: Tally) {
        for entry in other.entries { add(entry.key, entry.count) }
    }
}

extension Tally: Equatable {
    /// Whether the counts are the same, in whatever order they were made.
    static func == (left: Tally, right: Tally) -> Bool { left.counts == right.counts }
}
