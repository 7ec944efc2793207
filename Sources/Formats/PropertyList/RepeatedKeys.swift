import Bytes
import JSONText

/// A property list in the binary form, converted from XML or from a binary file that repeats keys.
struct RewrittenPropertyList {
    let bytes: [UInt8]
    /// The source offset of each object.
    let sourceOffsets: [UInt32]
    /// The repeated keys that were removed, or `nil` if there were none.
    let repeats: RepeatedKeys?
    /// The faults of XML that were found although its other values can be read.
    var faults = XMLFaults()
}

/// The faults of the source of a property list that do not prevent it from being read.
///
/// The faults are represented by a class, so that a document occupies little memory.
final class SourceFaults: Sendable {
    let repeats: RepeatedKeys?
    let xml: XMLFaults

    init(repeats: RepeatedKeys?, xml: XMLFaults) {
        self.repeats = repeats
        self.xml = xml
    }
}

/// The faults of an XML property list that ``PropertyListLimits/keepsInvalidValues`` permits.
struct XMLFaults: Sendable {
    /// The error of each invalid value, by the number of the object that replaces the value.
    var values: [UInt32: PropertyListError] = [:]
    /// The error for anything after the value of the property list, or `nil` if there is nothing.
    var end: PropertyListError?

    /// Returns the faults with each error replaced by the result of `change`.
    func map(_ change: (PropertyListError) -> PropertyListError) -> XMLFaults {
        XMLFaults(values: values.mapValues(change), end: end.map(change))
    }
}

/// A summary of the keys that are repeated within dictionaries of a file.
struct RepeatedKeys {
    /// The number of keys that repeat an earlier key of their dictionary.
    let count: Int
    /// The offset of the first dictionary that repeats a key.
    let offset: Int
}

extension RepeatedKeys? {
    /// Adds the `count` repeated keys of the dictionary at `offset`.
    mutating func add(_ count: Int, at offset: Int) {
        self = RepeatedKeys(count: (self?.count ?? 0) + count, offset: min(self?.offset ?? offset, offset))
    }
}

extension PropertyListError {
    /// Creates the error that reports repeated keys.
    init(_ repeats: RepeatedKeys) {
        let words = repeats.count == 1 ? "a repeated key" : "\(repeats.count) repeated keys"
        self.init(.duplicateKey, at: repeats.offset, "\(words), of which the first value counts")
    }
}

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
        let repeated = try compareEntries(in: bytes, budget: &budget)
        if repeated.isEmpty { checkedMembers[Self.slot(for: members, layout: layout, in: bytes)] = members }
        return repeated
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

/// Copies of the dictionaries that repeat a key, with only the first value of each key.
///
/// Source: <doc:KeyedArchives>, A.5.
struct RepairedDictionaries {
    /// The bytes of all copies, one after the other.
    private var copyBytes: [UInt8] = []
    /// The offsets of the copies in `copyBytes`, by the offset of the original dictionary.
    private var copyOffsets: [UInt32: Int] = [:]
    private var repeats: RepeatedKeys?

    /// Adds a copy of the dictionary at `offset` without the members at the positions in `repeated`.
    ///
    /// The positions must be in ascending order.
    mutating func append(
        _ offset: UInt32, _ members: PropertyListMembers, without repeated: [Int], layout: BinaryLayout,
        in bytes: Span<UInt8>
    ) {
        // Several objects may share one offset.
        guard copyOffsets[offset] == nil else { return }
        copyOffsets[offset] = copyBytes.count
        repeats.add(repeated.count, at: Int(offset))
        copyBytes.append(kind: 0xD0, count: members.count - repeated.count)
        let size = layout.referenceSize
        for start in [members.start, members.start + members.count * size] {
            var rest = repeated[...]
            for position in 0..<members.count {
                guard rest.first != position else {
                    rest.removeFirst()
                    continue
                }
                let reference = start + position * size
                copyBytes.append(copying: bytes.extracting(reference..<reference + size))
            }
        }
    }

    /// Returns `source` with the copies in place of the originals, or `nil` if there are no copies.
    func rewrite(_ source: [UInt8], layout: BinaryLayout) throws(PropertyListError) -> RewrittenPropertyList? {
        guard let repeats else { return nil }
        let length = source.count + copyBytes.count + BinaryWriter.referenceWidth * layout.objectCount
        guard length <= PropertyListLimits.maximumLength else {
            throw RepeatedKeyFinder.budgetExceeded(at: repeats.offset)
        }
        var writer = BinaryWriter(objects: source[..<layout.tableOffset] + copyBytes)
        for number in 0..<layout.objectCount {
            let offset = layout.offset(of: number, in: source.span)
            writer.append(
                objectAt: copyOffsets[offset].map { UInt32(layout.tableOffset + $0) } ?? offset, from: Int(offset))
        }
        writer.finish(root: layout.rootNumber, referenceSize: layout.referenceSize)
        return RewrittenPropertyList(bytes: writer.bytes, sourceOffsets: writer.sourceOffsets, repeats: repeats)
    }
}
