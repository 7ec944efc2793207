/// The records that a run has seen, in at most 22 bytes each on average.
///
/// Open-addressing tables of 16-byte keys. The first payload of an id is entered by the id alone, so that an id can be
/// found again; its further payloads are entered by id and payload, so that they do not queue up in one place. A table grows
/// by an eighth when five sixths are full: 74 to 83 percent are in use. There are many tables, each for a part of the ids, so
/// that while one grows, little is there twice.
public struct DuplicateIndex: Sendable {
    /// Whether an equal record, or one with the same id, came before.
    public enum Finding: Sendable {
        /// Its id has not been seen.
        case new
        /// Its id has been seen, with another payload.
        case sameIDOtherPayload
        /// It has been seen.
        case duplicate
    }

    /// How many different records were seen.
    public private(set) var count = 0
    private var tables = [KeyTable](repeating: KeyTable(), count: tableCount)
    private static let tableCount = 64

    /// Makes an empty index.
    public init() {}

    /// Looks a record up and remembers it.
    public mutating func insert(_ key: RecordKey) -> Finding {
        // The upper bits enter a table; the lower ones of the hash, three zeros behind them, choose it.
        let finding = tables[Int(key.identity >> 3) & (Self.tableCount - 1)].insert(key)
        if finding != .duplicate { count += 1 }
        return finding
    }
}

/// One of the tables.
private struct KeyTable: Sendable {
    private var count = 0
    private var slots = [RecordKey](repeating: Self.empty, count: 16)
    private static let empty = RecordKey(identity: 0, content: 0)

    mutating func insert(_ key: RecordKey) -> DuplicateIndex.Finding {
        if count * 6 >= slots.count * 5 { grow() }
        // The key of all zeros marks a free slot; a record that has it by chance gets the next one.
        let finding = place(key == Self.empty ? RecordKey(identity: 0, content: 1) : key)
        if finding != .duplicate { count += 1 }
        return finding
    }

    private mutating func place(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = home(of: key.identity)
        while slots[slot] != Self.empty {
            if slots[slot] == key { return .duplicate }
            if slots[slot].identity == key.identity { return placeFurther(key) }
            slot = next(slot)
        }
        slots[slot] = key
        return .new
    }

    private mutating func placeFurther(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = home(of: key.identity ^ key.content)
        while slots[slot] != Self.empty {
            if slots[slot] == key { return .duplicate }
            slot = next(slot)
        }
        slots[slot] = key
        return .sameIDOtherPayload
    }

    private func home(of number: UInt64) -> Int {
        Int(number.multipliedFullWidth(by: UInt64(slots.count)).high)
    }

    private func next(_ slot: Int) -> Int {
        slot + 1 == slots.count ? 0 : slot + 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Self.empty, count: old.count + old.count / 8)
        for key in old where key != Self.empty { _ = place(key) }
    }
}
