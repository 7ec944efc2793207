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
    }

    private static let shapeCount = 256
    /// Above this many keys sorting is faster than comparing each with each.
    private static let pairLimit = 24
    /// Units of a key that are read for nothing.
    private static let freeLength = 256

    /// Keys that were checked, placed by a hash of their references.
    private var shapes = Array(repeating: PropertyListMembers(start: 0, count: 0), count: shapeCount)
    private var entries: [Entry] = []

    /// Whether the same references were checked before.
    func knows(_ members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>) -> Bool {
        let shape = shapes[Self.place(of: members, layout: layout, in: bytes)]
        guard shape.count == members.count else { return false }
        let length = members.count * layout.referenceSize
        return bytes.extracting(shape.start..<shape.start + length)
            .equals(bytes.extracting(members.start..<members.start + length))
    }

    /// Checks keys that are texts, and remembers them.
    mutating func check(
        _ members: PropertyListMembers, layout: BinaryLayout, in bytes: Span<UInt8>, allowance: inout Int
    ) throws(PropertyListError) {
        entries.removeAll(keepingCapacity: true)
        for position in 0..<members.count {
            let reference = bytes.bigEndian(
                at: members.start + position * layout.referenceSize, width: layout.referenceSize)
            let offset = layout.offset(of: Int(reference), in: bytes)
            let text = StoredText(at: offset, in: bytes)
            // A long key that many dictionaries share costs more to read than it takes in the file.
            allowance -= max(0, text.count - Self.freeLength)
            guard allowance >= 0 else { throw Self.exhausted(Int(offset)) }
            entries.append(Entry(fingerprint: text.fingerprint, offset: offset))
        }
        if entries.count <= Self.pairLimit {
            for later in entries.indices.dropFirst() {
                for earlier in 0..<later {
                    try compare(entries[earlier], entries[later], layout: layout, in: bytes, allowance: &allowance)
                }
            }
        } else {
            entries.sort { ($0.fingerprint, $0.offset) < ($1.fingerprint, $1.offset) }
            for later in entries.indices.dropFirst() {
                var earlier = later - 1
                while earlier >= 0, entries[earlier].fingerprint == entries[later].fingerprint {
                    try compare(entries[earlier], entries[later], layout: layout, in: bytes, allowance: &allowance)
                    earlier -= 1
                }
            }
        }
        shapes[Self.place(of: members, layout: layout, in: bytes)] = members
    }

    static func exhausted(_ offset: Int) -> PropertyListError {
        PropertyListError(.budgetExceeded, at: offset, "objects that overlap too much")
    }

    private func compare(
        _ earlier: Entry, _ later: Entry, layout: BinaryLayout, in bytes: Span<UInt8>, allowance: inout Int
    ) throws(PropertyListError) {
        guard earlier.fingerprint == later.fingerprint else { return }
        let text = StoredText(at: later.offset, in: bytes)
        guard earlier.offset != later.offset else { throw Self.repeated(later.offset) }
        allowance -= text.count + 1
        guard allowance >= 0 else { throw Self.exhausted(Int(later.offset)) }
        if text.equals(StoredText(at: earlier.offset, in: bytes)) { throw Self.repeated(later.offset) }
    }

    private static func repeated(_ offset: UInt32) -> PropertyListError {
        PropertyListError(.duplicateKey, at: Int(offset), "a key that its dictionary already has")
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
