/// Counts occurrences by key.
///
/// Counting the same key repeatedly is fast, because the last key is cached.
struct Tally<Key: Hashable & Sendable>: Sendable {
    private var indices: [Key: Int] = [:]
    private var entries: [(key: Key, count: Int)] = []
    private var last = 0

    var counts: [Key: Int] { indices.mapValues { entries[$0].count } }

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

    mutating func add(_ other: Tally) {
        for entry in other.entries { add(entry.key, entry.count) }
    }
}

extension Tally: Equatable {
    /// Returns whether the counts are equal, regardless of the order in which the keys were added.
    static func == (left: Tally, right: Tally) -> Bool { left.counts == right.counts }
}
