import Telemetry

/// A sorted set of the keys of records or details.
///
/// Of several copies of a record, the set contains the key with the lowest rank.
public struct IndexKeySet: Sendable, Equatable {
    /// The keys in ascending order, without duplicates.
    public private(set) var keys: [IndexKey] = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set of `keys`, which can be in any order and contain duplicates.
    public init(_ keys: [IndexKey]) { formUnion(keys) }

    /// Creates a set, or returns `nil` if `keys` are not in strictly ascending order.
    init?(sorted keys: [IndexKey]) {
        guard zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 && !$0.identifiesCopy(of: $1) }) else { return nil }
        self.keys = keys
    }

    /// Adds all of `newKeys`, which can be in any order.
    public mutating func formUnion(_ newKeys: [IndexKey]) {
        guard !newKeys.isEmpty else { return }
        let (old, new) = (keys, newKeys.sorted())
        keys = []
        keys.reserveCapacity(old.count + new.count)
        var (oldIndex, newIndex) = (0, 0)
        while oldIndex < old.count || newIndex < new.count {
            let takesOld = newIndex == new.count || (oldIndex < old.count && old[oldIndex] < new[newIndex])
            let key = takesOld ? old[oldIndex] : new[newIndex]
            if takesOld { oldIndex += 1 } else { newIndex += 1 }
            if let last = keys.last, last.identifiesCopy(of: key) { continue }
            keys.append(key)
        }
    }

    /// Returns the finding for the record with the key `key`.
    ///
    /// The result is `sameIDOtherPayload` if the set contains only records with the same ID and another payload. It is
    /// `new` or `sameIDOtherPayload`, too, if the set contains a copy instead of which the record should be kept.
    public func finding(for key: IndexKey) -> DuplicateIndex.Finding {
        let first = firstIndex { $0.identity >= key.identity }
        guard first < keys.count, keys[first].identity == key.identity else { return .new }
        guard let copy = copy(of: key) else { return .sameIDOtherPayload }
        return copy.supersedes(key) ? .duplicate : .new
    }

    /// Returns the key of the copy of the record with the key `key`, or `nil` if there is none.
    private func copy(of key: IndexKey) -> IndexKey? {
        let index = firstIndex { $0 >= key || $0.identifiesCopy(of: key) }
        return index < keys.count && keys[index].identifiesCopy(of: key) ? keys[index] : nil
    }

    /// Returns the number of keys that `other` does not contain.
    func countOfKeys(notIn other: IndexKeySet) -> Int { keys.count { other.copy(of: $0) != $0 } }

    /// Returns whether the set contains `key`.
    public func contains(_ key: IndexKey) -> Bool {
        copy(of: key) != nil
    }

    /// Returns the index of the first key that satisfies `predicate`, or the number of keys if no key does.
    ///
    /// All later keys must satisfy `predicate`, too.
    private func firstIndex(where predicate: (IndexKey) -> Bool) -> Int {
        var range = keys.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = predicate(keys[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
