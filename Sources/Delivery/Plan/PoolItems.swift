/// The items of all lists in a pool.
///
/// Keys and sizes are stored in separate arrays, because padding in an array of structs would add four bytes to each of
/// millions of items.
struct PoolItems: Sendable {
    private(set) var keys: [ItemKey] = []
    private var sizes: [UInt32] = []

    var count: Int { keys.count }

    /// Returns the size of the item at `index`, in bytes.
    func size(at index: Int) -> Int { Int(sizes[index]) }

    mutating func append(_ key: ItemKey, size: Int) {
        keys.append(key)
        sizes.append(UInt32(clamping: size))
    }

    mutating func removeAll(from start: Int) {
        keys.removeSubrange(start...)
        sizes.removeSubrange(start...)
    }
}
