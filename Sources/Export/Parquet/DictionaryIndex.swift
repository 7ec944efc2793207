import Bytes

/// A hash table of the indices of dictionary entries.
///
/// The entries themselves are stored by the owner of the table.
struct DictionaryIndex {
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

    @inline(__always)
    func search(for hash: UInt32) -> Search { Search(hash: hash, position: Int(hash) & (slots.count &- 1)) }

    /// Returns the index of the next entry with the hash of `search`, or `nil` if there are no further entries.
    @inline(__always)
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

/// A hash function with a random key, so that captured data cannot be crafted to contain strings with equal hashes.
///
/// The hashes affect only the duration of a search, and never the output.
struct DictionaryHash {
    private static let key = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max) | 1)

    private let seed: UInt64
    private let factor: UInt64

    init() { (seed, factor) = Self.key }

    @inline(__always)
    func callAsFunction(_ number: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: mixed(mixed(UInt64(bitPattern: number) ^ seed)))
    }

    @inline(__always)
    func callAsFunction(_ bytes: Span<UInt8>) -> UInt32 {
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while let word = bytes.wordIfPresent(at: index) {
            hash = mixed(hash ^ word)
            index &+= 8
        }
        var rest: UInt64 = 0
        if bytes.count >= 8 {
            // The last word overlaps the preceding word.
            rest = bytes.word(at: bytes.count &- 8)
        } else {
            while index < bytes.count {
                rest = rest &<< 8 | UInt64(bytes[index])
                index &+= 1
            }
        }
        return UInt32(truncatingIfNeeded: mixed(mixed(hash ^ rest)))
    }

    @inline(__always)
    private func mixed(_ number: UInt64) -> UInt64 {
        let product = number.multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }
}
