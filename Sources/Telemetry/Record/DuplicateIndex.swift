/// An index of records that detects duplicates.
///
/// A large index needs at most 22 bytes per record on average.
///
/// The index consists of open-addressing hash tables with 16-byte keys. The slot of a record with a new id depends only
/// on the id, so that the id can be found again. The slot of a further payload of a known id depends on both the id and
/// the payload. This avoids long chains of occupied slots.
///
/// A table grows when five sixths of its slots are in use. A small table doubles its size. A large table grows by an
/// eighth, so that 74 to 83 percent of its slots are in use. The ids are divided among many tables, because a growing
/// table temporarily needs twice its memory. All tables consist of pages of equal size, so that a table can reuse the
/// freed pages of another table.
public struct DuplicateIndex: Sendable {
    /// The result of looking up a record.
    public enum Finding: Sendable {
        /// The id has not been seen.
        case new
        /// The id has been seen, but not with this payload.
        case sameIDOtherPayload
        /// The id has been seen with this payload.
        case duplicate
    }

    /// The number of different records in the index.
    public private(set) var count = 0
    private var tables = [KeyTable](repeating: KeyTable(), count: tableCount)
    private static let tableCount = 64

    /// Creates an empty index.
    public init() {}

    /// Looks up a record, and adds it if it is new.
    public mutating func insert(_ key: RecordKey) -> Finding {
        // The lowest three bits of the hash are zero. The next bits select the table, and the upper bits select the
        // slot.
        let finding = tables[Int(key.identity >> 3) & (Self.tableCount - 1)].insert(key)
        if finding != .duplicate { count += 1 }
        return finding
    }
}

private struct KeyTable: Sendable {
    private var count = 0
    private var pages = [Self.emptyPage]
    private var slotCount = Self.pageSize
    private static let empty = RecordKey(identity: 0, content: 0)
    /// The number of keys per page, which is a power of two.
    private static let pageSize = 256
    private static let emptyPage = [RecordKey](repeating: empty, count: pageSize)

    mutating func insert(_ key: RecordKey) -> DuplicateIndex.Finding {
        if count * 6 >= slotCount * 5 { grow() }
        // A key of zeros marks a free slot. A record with this key is stored under the next key instead.
        let finding = store(key == Self.empty ? RecordKey(identity: 0, content: 1) : key)
        if finding != .duplicate { count += 1 }
        return finding
    }

    private subscript(slot: Int) -> RecordKey {
        get { pages[slot / Self.pageSize][slot % Self.pageSize] }
        set { pages[slot / Self.pageSize][slot % Self.pageSize] = newValue }
    }

    private mutating func store(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = firstSlot(for: key.identity)
        while self[slot] != Self.empty {
            if self[slot] == key { return .duplicate }
            if self[slot].identity == key.identity { return storeFurtherPayload(key) }
            slot = self.slot(after: slot)
        }
        self[slot] = key
        return .new
    }

    private mutating func storeFurtherPayload(_ key: RecordKey) -> DuplicateIndex.Finding {
        var slot = firstSlot(for: key.identity ^ key.content)
        while self[slot] != Self.empty {
            if self[slot] == key { return .duplicate }
            slot = self.slot(after: slot)
        }
        self[slot] = key
        return .sameIDOtherPayload
    }

    private func firstSlot(for number: UInt64) -> Int {
        Int(number.multipliedFullWidth(by: UInt64(slotCount)).high)
    }

    private func slot(after slot: Int) -> Int { slot + 1 == slotCount ? 0 : slot + 1 }

    /// The maximum number of pages of a table that doubles its size when it grows.
    ///
    /// After all tables have doubled their size for the last time, they use 4 MiB together.
    private static let maximumDoubledPageCount = 8

    private mutating func grow() {
        var old = pages
        let more = old.count <= Self.maximumDoubledPageCount ? old.count : old.count / 8
        pages = (0..<old.count + more).map { _ in
            [RecordKey](repeating: Self.empty, count: Self.pageSize)
        }
        slotCount = pages.count * Self.pageSize
        // Each page is freed as soon as its keys have been copied to the new table.
        while let page = old.popLast() {
            for key in page where key != Self.empty { _ = store(key) }
        }
    }
}
