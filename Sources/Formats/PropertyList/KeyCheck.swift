import JSONText

/// Finds dictionary keys that repeat, as objects or as texts.
///
/// Most dictionaries of a file have the same keys as one before them, by the same references: these are known at a
/// glance. Of the others, keys are told apart by a fingerprint and compared in full only where two are equal.
///
/// Source: <doc:KeyedArchives>, A.5.
struct KeyCheck {
    private struct Entry {
        let fingerprint: UInt64
        let offset: UInt32
        /// The position of the key in its dictionary.
        let position: Int
    }

    private static let shapeCount = 256
    /// Above this many keys sorting is faster than comparing each with each.
    private static let pairLimit = 24
    /// Units of a key that are read for nothing.
    private static let freeLength = 256

    /// Keys that were checked, placed by a hash of their references.
    private var shapes: [PropertyListMembers?] = Array(repeating: nil, count: shapeCount)
    private var entries: [Entry] = []
    /// The different keys that have the same fingerprint.
    private var distinct: [Entry] = []

    /// Whether the same references were checked before.
    func knows(_ members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>) -> Bool {
        guard let shape = shapes[Self.place(of: members, layout: layout, in: bytes)], shape.count == members.count
        else { return false }
        let length = members.count * layout.referenceSize
        return bytes.extracting(shape.start..<shape.start + length)
            .equals(bytes.extracting(members.start..<members.start + length))
    }

    /// Finds the keys that repeat an earlier key of their dictionary. All keys have to be texts. If none is repeated, their
    /// references are remembered.
    /// - Returns: The positions of the repeated keys, in ascending order.
    mutating func repeatedKeys(
        of members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>, allowance: inout Int
    ) throws(PropertyListError) -> [Int] {
        entries.removeAll(keepingCapacity: true)
        for position in 0..<members.count {
            let reference = bytes.bigEndian(
                at: members.start + position * layout.referenceSize, width: layout.referenceSize)
            let offset = layout.offset(of: Int(reference), in: bytes)
            let text = StoredText(at: offset, in: bytes)
            // A long key that many dictionaries share costs more to read than it takes in the file.
            allowance -= max(0, text.count - Self.freeLength)
            guard allowance >= 0 else { throw Self.exhausted(Int(offset)) }
            entries.append(Entry(fingerprint: text.fingerprint, offset: offset, position: position))
        }
        let repeated = hasDistinctFingerprints ? [] : try compareEntries(in: bytes, allowance: &allowance)
        if repeated.isEmpty { shapes[Self.place(of: members, layout: layout, in: bytes)] = members }
        return repeated
    }

    /// Whether there are few keys, and no two of them have the same fingerprint.
    private var hasDistinctFingerprints: Bool {
        guard entries.count <= Self.pairLimit else { return false }
        for later in entries.indices.dropFirst() {
            for earlier in 0..<later where entries[earlier].fingerprint == entries[later].fingerprint { return false }
        }
        return true
    }

    private mutating func compareEntries(
        in bytes: Span<UInt8>, allowance: inout Int
    ) throws(PropertyListError) -> [Int] {
        entries.sort { ($0.fingerprint, $0.position) < ($1.fingerprint, $1.position) }
        var repeated: [Int] = []
        distinct.removeAll(keepingCapacity: true)
        for entry in entries {
            if distinct.last?.fingerprint != entry.fingerprint { distinct.removeAll(keepingCapacity: true) }
            var isRepeated = false
            for earlier in distinct {
                isRepeated = try Self.areEqual(earlier, entry, in: bytes, allowance: &allowance)
                if isRepeated { break }
            }
            if isRepeated { repeated.append(entry.position) } else { distinct.append(entry) }
        }
        return repeated.sorted()
    }

    static func exhausted(_ offset: Int) -> PropertyListError {
        PropertyListError(.budgetExceeded, at: offset, "objects that overlap too much")
    }

    private static func areEqual(
        _ earlier: Entry, _ later: Entry, in bytes: Span<UInt8>, allowance: inout Int
    ) throws(PropertyListError) -> Bool {
        guard earlier.offset != later.offset else { return true }
        let text = StoredText(at: later.offset, in: bytes)
        allowance -= text.count + 1
        guard allowance >= 0 else { throw exhausted(Int(later.offset)) }
        return text.equals(StoredText(at: earlier.offset, in: bytes))
    }

    private static func place(of members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>) -> Int {
        let last = members.start + (members.count - 1) * layout.referenceSize
        let hash =
            bytes.bigEndian(at: members.start, width: layout.referenceSize) &* 0x9E37_79B9_7F4A_7C15
            ^ bytes.bigEndian(at: last, width: layout.referenceSize) &* 0xC2B2_AE3D_27D4_EB4F
            ^ UInt64(members.count) &* 0x1656_67B1_9E37_79F9
        return Int(truncatingIfNeeded: hash >> 40) & (shapeCount - 1)
    }
}
