import Bytes
import JSONText

/// The checked trailer of a binary property list, which locates its objects.
///
/// Source: <doc:KeyedArchives>, A.2 to A.4.
struct BinaryLayout: Sendable {
    static let headerLength = 8
    private static let trailerLength = 32
    /// The total length, in bytes, of a header, one object, one offset and a trailer.
    private static let minimumLength = 42

    /// The size of an offset-table entry, in bytes: 1 to 8.
    let offsetSize: Int
    /// The size of a reference to an object, in bytes: 1 to 8.
    let referenceSize: Int
    let objectCount: Int
    let rootNumber: Int
    /// The offset of the offset table, which is also the end of the objects.
    let tableOffset: Int

    /// Reads and checks the trailer and the offset table.
    init(of bytes: Span<UInt8>) throws(PropertyListError) {
        let length = bytes.count
        guard length >= Self.minimumLength else {
            throw PropertyListError(
                .truncated, at: length, "\(length.counted("byte")) cannot hold a binary property list")
        }
        let trailer = length - Self.trailerLength
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw PropertyListError(.badTrailer, at: trailer + 6, "offsets or references of an impossible width")
        }
        let count = bytes.bigEndian(at: trailer + 8, width: 8)
        guard count >= 1, count <= UInt64(length) else {
            throw PropertyListError(.badTrailer, at: trailer + 8, "an impossible number of objects")
        }
        let root = bytes.bigEndian(at: trailer + 16, width: 8)
        guard root < count else { throw PropertyListError(.badTrailer, at: trailer + 16, "a root beyond the objects") }
        let table = bytes.bigEndian(at: trailer + 24, width: 8)
        guard table >= 9, table <= UInt64(length - 33) else {
            throw PropertyListError(.badTrailer, at: trailer + 24, "an offset table outside of the file")
        }
        objectCount = Int(count)
        rootNumber = Int(root)
        tableOffset = Int(table)
        // The count is at most the length, which fits in 32 bits, so nothing overflows here.
        guard tableOffset + objectCount * offsetSize == trailer else {
            throw PropertyListError(.badTrailer, at: trailer + 24, "an offset table that does not end at the trailer")
        }
        guard referenceSize == 8 || count <= 1 << (8 * UInt64(referenceSize)) else {
            throw PropertyListError(.badTrailer, at: trailer + 7, "references too narrow for the objects")
        }
        guard offsetSize == 8 || table < 1 << (8 * UInt64(offsetSize)) else {
            throw PropertyListError(.badTrailer, at: trailer + 6, "offsets too narrow for the objects")
        }
        var entry = tableOffset
        while entry < trailer {
            let offset = bytes.bigEndian(at: entry, width: offsetSize)
            guard offset >= UInt64(Self.headerLength), offset < table else {
                throw PropertyListError(.badOffset, at: entry, "an offset outside of the objects")
            }
            entry += offsetSize
        }
    }

    /// Whether there are more objects than bytes before the offset table, so that some objects share an offset.
    var sharesOffsets: Bool { objectCount > tableOffset }

    /// Returns the offset of the marker of an object.
    @inline(__always)
    func offset(of number: Int, in bytes: Span<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.bigEndian(at: tableOffset + number * offsetSize, width: offsetSize))
    }

    /// Returns the payload offset of a checked object, and its number of bytes, UTF-16 units, elements or members.
    @inline(__always)
    static func extent(at offset: UInt32, in bytes: Span<UInt8>) -> (start: Int, count: Int) {
        let start = Int(offset) + 1
        let short = Int(bytes[start - 1] & 0xF)
        if short < 15 { return (start, short) }
        let width = 1 << Int(bytes[start] & 3)
        return (start + 1 + width, Int(truncatingIfNeeded: bytes.bigEndian(at: start + 1, width: width)))
    }
}

extension Span<UInt8> {
    /// Returns the big-endian number of `width` bytes at `index`, where `width` is 1 to 8.
    @inline(__always)
    func bigEndian(at index: Int, width: Int) -> UInt64 {
        // Eight bytes can be loaded wherever an object or an offset begins, because the trailer follows.
        word(at: index).byteSwapped &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    }
}
