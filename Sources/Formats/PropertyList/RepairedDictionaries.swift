import Bytes
import JSONText

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
