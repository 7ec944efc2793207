/// The records that a run has seen, in at most 22 bytes each on average where they are many.
///
/// Open-addressing tables of 16-byte keys. The first payload of an id is entered by the id alone, so that an id can be
/// found again; its further payloads are entered by id and payload, so that they do not queue up in one place. A table
/// grows when five sixths are full: to twice its size while it is small, later by an eighth, so that 74 to 83 percent are
/// in use. There are many tables, each for a part of the ids, so that while one grows, little is there twice; and each
/// consists of pages of one size, so that what one table lets go of another one can use.
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
    private var pages = [Self.emptyPage]
    private var slotCount = Self.pageSize
    private static let empty = RecordKey(identity: 0, content: 0)
    /// How many keys a page has; a power of two.
    private static let pageSize = 256
    private static let emptyPage = [RecordKey](repeating: empty, count: pageSize)

    mutating func insert(_ key: RecordKey) -> DuplicateIndex.Finding {
        if count * 6 >= slotCount * 5 { grow() }
        // The key of all zeros marks a free slot; a record that has it by chance gets the next one.
        let finding = place(key == Self.empty ? RecordKey(identity: 0, content: 1) : key)
        if finding != .duplicate { count += 1 }
        return finding
    }

    private subscript(slot: Int) -> RecordKey {
        get { pages[slot / Self.pageSize][slot % Self.pageSize] }
        set { pages[slot / Self.pageSize][slot % Self.pageSize] = newValue }
    }

    private mutating func place(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = home(of: key.identity)
        while self[slot] != Self.empty {
            if self[slot] == key { return .duplicate }
            if self[slot].identity == key.identity { return placeFurther(key) }
            slot = next(slot)
        }
        self[slot] = key
        return .new
    }

    private mutating func placeFurther(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = home(of: key.identity ^ key.content)
        while self[slot] != Self.empty {
            if self[slot] == key { return .duplicate }
            slot = next(slot)
        }
        self[slot] = key
        return .sameIDOtherPayload
    }

    private func home(of number: UInt64) -> Int {
        Int(number.multipliedFullWidth(by: UInt64(slotCount)).high)
    }

    private func next(_ slot: Int) -> Int {
        slot + 1 == slotCount ? 0 : slot + 1
    }

    /// Tables of up to so many pages are doubled; after the last time all together have 4 MiB.
    private static let mostDoubled = 8

    private mutating func grow() {
        var old = pages
        let more = old.count <= Self.mostDoubled ? old.count : old.count / 8
        pages = (0..<old.count + more).map { _ in
            [RecordKey](repeating: Self.empty, count: Self.pageSize)
        }
        slotCount = pages.count * Self.pageSize
        // A page goes when its keys are placed.
        while let page = old.popLast() {
            for key in page where key != Self.empty { _ = place(key) }
        }
    }
}
