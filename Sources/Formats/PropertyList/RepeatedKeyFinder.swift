import Bytes
import JSONText

/// A search for the keys that occur more than once in a dictionary, either as the same object or as equal strings.
///
/// Most dictionaries refer to the same key objects as an earlier dictionary, so their keys do not have to be read.
/// Other keys are compared by fingerprint, and in full only if two fingerprints are equal.
///
/// Source: <doc:KeyedArchives>, A.5.
struct RepeatedKeyFinder {
    private struct Entry {
        let fingerprint: UInt64
        let offset: UInt32
        let position: Int
    }

    private static let slotCount = 256
    /// The maximum number of keys for which pairwise comparison is faster than sorting.
    private static let pairwiseKeyLimit = 24
    /// The maximum length of a key, in units, that is not charged to the budget.
    private static let uncountedLength = 256

    /// The members of checked dictionaries, in slots chosen by a hash of their key references.
    private var checkedMembers: [PropertyListMembers?] = Array(repeating: nil, count: slotCount)
    private var entries: [Entry] = []
    /// The distinct keys found so far that have the fingerprint of the current key.
    private var distinctEntries: [Entry] = []

    /// Returns whether a dictionary with the same key references is known to have no repeated keys.
    func hasChecked(_ members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>) -> Bool {
        guard let checked = checkedMembers[Self.slot(for: members, layout: layout, in: bytes)],
            checked.count == members.count
        else { return false }
        let length = members.count * layout.referenceSize
        return bytes.extracting(checked.start..<checked.start + length)
            .equals(bytes.extracting(members.start..<members.start + length))
    }

    /// Returns the positions, in ascending order, of the keys that repeat an earlier key.
    ///
    /// All keys must be strings.
    mutating func repeatedKeys(
        of members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>, budget: inout WorkBudget
    ) throws(PropertyListError) -> [Int] {
        entries.removeAll(keepingCapacity: true)
        for position in 0..<members.count {
            let reference = bytes.bigEndian(
                at: members.start + position * layout.referenceSize, width: layout.referenceSize)
            let offset = layout.offset(of: Int(reference), in: bytes)
            let text = StoredText(at: offset, in: bytes)
            // A long key shared by many dictionaries is read for each of them, although it is stored once.
            guard budget.charge(bytes: max(0, text.count - Self.uncountedLength)) else {
                throw Self.budgetExceeded(at: Int(offset))
            }
            entries.append(Entry(fingerprint: text.fingerprint, offset: offset, position: position))
        }
        let repeated =
            hasDistinctFingerprints ? [] : try compareEntries(in: bytes, budget: &budget)
        if repeated.isEmpty { checkedMembers[Self.slot(for: members, layout: layout, in: bytes)] = members }
        return repeated
    }

    /// Whether there are at most `pairwiseKeyLimit` keys and all their fingerprints differ.
    private var hasDistinctFingerprints: Bool {
        guard entries.count <= Self.pairwiseKeyLimit else { return false }
        for later in entries.indices.dropFirst() {
            for earlier in 0..<later where entries[earlier].fingerprint == entries[later].fingerprint { return false }
        }
        return true
    }

    private mutating func compareEntries(
        in bytes: Span<UInt8>, budget: inout WorkBudget
    ) throws(PropertyListError) -> [Int] {
        entries.sort { ($0.fingerprint, $0.position) < ($1.fingerprint, $1.position) }
        var repeated: [Int] = []
        distinctEntries.removeAll(keepingCapacity: true)
        for entry in entries {
            if distinctEntries.last?.fingerprint != entry.fingerprint {
                distinctEntries.removeAll(keepingCapacity: true)
            }
            var isRepeated = false
            for earlier in distinctEntries {
                isRepeated = try Self.areEqual(earlier, entry, in: bytes, budget: &budget)
                if isRepeated { break }
            }
            if isRepeated { repeated.append(entry.position) } else { distinctEntries.append(entry) }
        }
        return repeated.sorted()
    }

    static func budgetExceeded(at offset: Int) -> PropertyListError {
        PropertyListError(.budgetExceeded, at: offset, "objects that overlap too much")
    }

    private static func areEqual(
        _ earlier: Entry, _ later: Entry, in bytes: Span<UInt8>, budget: inout WorkBudget
    ) throws(PropertyListError) -> Bool {
        guard earlier.offset != later.offset else { return true }
        let text = StoredText(at: later.offset, in: bytes)
        guard budget.charge(bytes: text.count + 1) else { throw budgetExceeded(at: Int(later.offset)) }
        return text.equals(StoredText(at: earlier.offset, in: bytes))
    }

    private static func slot(for members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>) -> Int {
        let last = members.start + (members.count - 1) * layout.referenceSize
        let hash =
            bytes.bigEndian(at: members.start, width: layout.referenceSize) &* 0x9E37_79B9_7F4A_7C15
            ^ bytes.bigEndian(at: last, width: layout.referenceSize) &* 0xC2B2_AE3D_27D4_EB4F
            ^ UInt64(members.count) &* 0x1656_67B1_9E37_79F9
        return Int(truncatingIfNeeded: hash >> 40) & (slotCount - 1)
    }
}
