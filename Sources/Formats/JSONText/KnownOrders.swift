/// The orders of the keys that were met last: objects of one kind mostly have the same keys in the same places, and those need
/// not be sorted again.
///
/// Keys are told by their first eight bytes. An order is known only of keys that differ in these: then nothing behind them
/// decides about the order, and no key repeats.
struct KnownOrders: Sendable {
    /// The keys of one object.
    private struct Keys: Sendable {
        /// Where they begin in `prefixes`, and their places in `places`.
        let start: Int
        let count: Int
    }

    private var known: [Keys] = []
    /// The first bytes of the keys, as they stood.
    private var prefixes: [UInt64] = []
    /// For each place in canonical order the place of the key among those of its object.
    private var places: [UInt8] = []

    /// Fewer keys are sorted as fast as they are compared, and more are rare.
    private static let counts = 3...24
    /// So many orders are kept; then all are forgotten, for they do not come again.
    private static let most = 16

    /// Where the order of keys stands, for ``place(at:)``; nil if it is not known.
    @inline(__always)
    func order(of keys: Span<KeyOrder.Entry>) -> Range<Int>? {
        for index in known.indices where known[index].count == keys.count {
            let start = known[index].start
            if isEqual(keys, at: start) { return start..<start &+ keys.count }
        }
        return nil
    }

    @inline(__always)
    private func isEqual(_ keys: Span<KeyOrder.Entry>, at start: Int) -> Bool {
        let prefixes = prefixes.span.extracting(start..<start + keys.count)
        for index in keys.indices where keys[index].prefix != prefixes[index] { return false }
        return true
    }

    /// The place, among the keys as they stood, of the one that comes at a place of the known order.
    func place(at index: Int) -> Int { Int(places[index]) }

    /// Learns the order of the keys of an object.
    /// - Parameter sorted: the keys in canonical order.
    mutating func learn(_ sorted: Span<KeyOrder.Entry>) {
        guard Self.counts.contains(sorted.count), Self.haveDifferentStarts(sorted) else { return }
        if known.count == Self.most { forget() }
        let start = prefixes.count
        known.append(Keys(start: start, count: sorted.count))
        prefixes += repeatElement(0, count: sorted.count)
        for index in sorted.indices {
            let place = Self.place(of: sorted[index], among: sorted)
            places.append(UInt8(place))
            prefixes[start + place] = sorted[index].prefix
        }
    }

    /// Forgets all orders, keeps the memory.
    private mutating func forget() {
        known.removeAll(keepingCapacity: true)
        prefixes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    private static func haveDifferentStarts(_ sorted: Span<KeyOrder.Entry>) -> Bool {
        for index in sorted.indices.dropFirst() where sorted[index - 1].prefix == sorted[index].prefix { return false }
        return true
    }

    /// The place of a key as it stood: how many nodes come before its own.
    private static func place(of entry: KeyOrder.Entry, among keys: Span<KeyOrder.Entry>) -> Int {
        var place = 0
        for index in keys.indices where keys[index].key < entry.key { place += 1 }
        return place
    }
}
