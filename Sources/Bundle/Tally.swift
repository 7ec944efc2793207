import Bytes

/// A table that counts occurrences by key.
///
/// Counting the same key repeatedly is fast, because the index of the last key is cached.
struct Tally<Key: Hashable & Sendable>: Sendable {
    private var indices: [Key: Int] = [:]
    private var entries: [(key: Key, count: Int)] = []
    private var lastIndex = 0

    var counts: [Key: Int] { indices.mapValues { entries[$0].count } }

    mutating func add(_ key: Key, _ count: Int = 1) {
        if lastIndex >= entries.count || entries[lastIndex].key != key {
            lastIndex = indices[key] ?? entries.count
            if lastIndex == entries.count {
                indices[key] = lastIndex
                entries.append((key, 0))
            }
        }
        entries[lastIndex].count = entries[lastIndex].count.addingSaturated(count)
    }

    mutating func add(_ other: Tally) {
        for entry in other.entries { add(entry.key, entry.count) }
    }
}

extension Tally: Equatable {
    /// Returns whether the counts are equal, regardless of the order in which the keys were added.
    static func == (left: Tally, right: Tally) -> Bool { left.counts == right.counts }
}
