import Bytes
import JSONText

/// The distinct values of a column in a row group, in the order of their first occurrences.
struct ValueDictionary {
    /// The maximum size of the values in plain encoding, in bytes.
    static let sizeLimit = 1 << 20

    /// The values in plain encoding.
    private(set) var bytes: [UInt8] = []
    /// The index of the end of each string in ``bytes``.
    ///
    /// The array is not used for numbers.
    private var ends: [UInt32] = []
    private var index = DictionaryIndex()

    /// The number of values.
    var count: Int { index.count }

    /// Returns the index of `number`, after adding the number if it is new.
    ///
    /// Returns `nil` if the number is new and the dictionary is full.
    mutating func index(of number: Int64) -> UInt32? {
        var search = index.search(for: ValueHash.hash(of: number))
        while let found = index.next(&search) {
            if self.number(at: found) == number { return UInt32(truncatingIfNeeded: found) }
        }
        guard bytes.count + 8 <= Self.sizeLimit else { return nil }
        bytes.append(littleEndian: number)
        return UInt32(truncatingIfNeeded: index.add(after: search))
    }

    /// Returns the index of `string`, after adding the string if it is new.
    ///
    /// Returns `nil` if the string is new and the dictionary is full.
    mutating func index(of string: Span<UInt8>) -> UInt32? {
        var search = index.search(for: ValueHash.hash(of: string))
        while let found = index.next(&search) {
            if self.string(at: found).equals(string) { return UInt32(truncatingIfNeeded: found) }
        }
        guard bytes.count + 4 + string.count <= Self.sizeLimit else { return nil }
        bytes.append(plain: string)
        ends.append(UInt32(truncatingIfNeeded: bytes.count))
        return UInt32(truncatingIfNeeded: index.add(after: search))
    }

    func number(at index: Int) -> Int64 { Int64(bitPattern: bytes.span.word(at: 8 &* index)) }

    @_lifetime(borrow self)
    func string(at index: Int) -> Span<UInt8> {
        let start = index == 0 ? 0 : Int(ends[index &- 1])
        return bytes.span.extracting(start &+ 4..<Int(ends[index]))
    }
}

extension [UInt8] {
    /// Appends a string in plain encoding: the length in four bytes, and the bytes.
    mutating func append(plain string: Span<UInt8>) {
        append(littleEndian: UInt32(string.count))
        string.withUnsafeBytes { self += $0 }
    }
}

/// The hashes of values, which take a third of the time of `Hasher`.
///
/// They depend on random numbers, so that captured data cannot be crafted to have equal hashes.
private enum ValueHash {
    private static let seed = UInt64.random(in: .min ... .max)
    private static let factor = UInt64.random(in: .min ... .max) | 1

    static func hash(of number: Int64) -> UInt32 { shortened(mixed(UInt64(bitPattern: number) ^ seed, factor)) }

    static func hash(of string: Span<UInt8>) -> UInt32 {
        var hash = seed ^ UInt64(string.count)
        var index = 0
        while string.count - index > 16 {
            hash = mixed(string.word(at: index) ^ factor, string.word(at: index + 8) ^ hash)
            index += 16
        }
        let rest = string.extracting(droppingFirst: index)
        let end = rest.extracting(droppingFirst: max(0, rest.count - 8))
        return shortened(mixed(rest.prefixAsNumber ^ factor, end.prefixAsNumber ^ hash))
    }

    private static func shortened(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: mixed(hash ^ seed, factor)) }

    /// Returns the two halves of the product, combined.
    private static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

/// A hash table of the indices of dictionary entries.
///
/// The entries themselves are stored by the owner of the table.
private struct DictionaryIndex {
    /// The slots of the table.
    ///
    /// Their number is a power of two.
    ///
    /// A slot contains the hash in its upper half, and the index of the entry plus 1 in its lower half. An empty slot
    /// is 0.
    private var slots = [UInt64](repeating: 0, count: 64)
    /// The number of entries.
    private(set) var count = 0

    /// A search for the entry with a hash.
    struct Search {
        fileprivate let hash: UInt32
        fileprivate var position: Int
    }

    func search(for hash: UInt32) -> Search { Search(hash: hash, position: Int(hash) & (slots.count &- 1)) }

    /// Returns the index of the next entry with the hash of `search`, or `nil` if there are no further entries.
    func next(_ search: inout Search) -> Int? {
        while slots[search.position] != 0 {
            let slot = slots[search.position]
            search.position = (search.position &+ 1) & (slots.count &- 1)
            if UInt32(truncatingIfNeeded: slot >> 32) == search.hash {
                return Int(UInt32(truncatingIfNeeded: slot)) &- 1
            }
        }
        return nil
    }

    /// Adds an entry and returns its index.
    ///
    /// ``next(_:)`` must have returned `nil` for `search`.
    mutating func add(after search: Search) -> Int {
        slots[search.position] = Self.slot(search.hash, count)
        count += 1
        if 2 * count > slots.count { grow() }
        return count - 1
    }

    private static func slot(_ hash: UInt32, _ index: Int) -> UInt64 { UInt64(hash) << 32 | UInt64(index + 1) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: 4 * old.count)
        let mask = slots.count - 1
        for slot in old where slot != 0 {
            var position = Int(slot >> 32) & mask
            while slots[position] != 0 { position = (position + 1) & mask }
            slots[position] = slot
        }
    }
}
