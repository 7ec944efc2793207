import Bytes

/// The numbers of occurrences of a limited number of keys.
///
/// A capture can contain any number of keys. Therefore, keys beyond the limit are counted together. Keys are stored in
/// the order of their first occurrence, so that equal input has equal results.
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
    subscript(key: Key) -> Int { index(of: key).map { entries[$0].count } ?? 0 }

    var keys: [Key] { entries.map(\.key) }

    var total: Int { entries.reduce(otherCount) { $0.addingSaturated($1.count) } }

    var isEmpty: Bool { entries.isEmpty && otherCount == 0 }

    /// Adds `count` to the count of `key`.
    ///
    /// Returns the index of the key in ``entries``, or `nil` if the key is not counted separately.
    @discardableResult
    mutating func add(_ key: Key, _ count: Int = 1) -> Int? {
        if let index = indices[key] {
            entries[index].count = entries[index].count.addingSaturated(count)
            return index
        }
        guard entries.count < keyLimit else {
            otherCount = otherCount.addingSaturated(count)
            return nil
        }
        indices[key] = entries.count
        entries.append((key, count))
        return entries.count - 1
    }

    /// Adds the counts in `later`.
    ///
    /// Returns the new index of each entry of `later`, or `nil` for an entry that is not counted separately.
    @discardableResult
    mutating func add(_ later: BoundedCounts) -> [Int?] {
        let indices = later.entries.map { add($0.key, $0.count) }
        otherCount = otherCount.addingSaturated(later.otherCount)
        return indices
    }

    /// Returns the index of a key in ``entries``, or `nil` if the key is not counted separately.
    func index(of key: Key) -> Int? { indices[key] }

    /// The keys and their counts, sorted by count in descending order.
    var largestFirst: [(key: Key, count: Int)] {
        entries.enumerated()
            .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }
}

extension BoundedCounts<CapturedText> {
    /// Returns the count of a text, or 0 if the text is not counted separately.
    subscript(text: String) -> Int { self[CapturedText(text)] }

    /// Adds `count` to the count of `text`, like `add(_:_:)` for keys.
    @discardableResult
    mutating func add(_ text: String, _ count: Int = 1) -> Int? { add(CapturedText(text), count) }
}
