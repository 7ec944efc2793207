/// Returns a little-endian number of `count` bytes.
func littleEndian(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// Returns the fields from the flags to the size, which directory entries and local headers share.
private func sharedFields(_ flags: Int, _ method: Int, _ checksum: Int, _ compressed: Int, _ size: Int) -> [UInt8] {
    littleEndian(flags, 2) + littleEndian(method, 2) + littleEndian(0, 4) + littleEndian(checksum, 4)
        + littleEndian(compressed, 4) + littleEndian(size, 4)
}

/// Returns a directory entry.
func entry(
    _ name: String, flags: Int = 0, method: Int = 8, checksum: Int = 7, compressed: Int = 5, size: Int = 9,
    extra: [UInt8] = [], comment: String = "", disk: Int = 0, system: Int = 3, attributes: Int = 0o100644 << 16,
    offset: Int = 0
) -> [UInt8] {
    let names = littleEndian(name.utf8.count, 2) + littleEndian(extra.count, 2)
    return littleEndian(0x0201_4B50, 4) + [20, UInt8(system)] + littleEndian(20, 2)
        + sharedFields(flags, method, checksum, compressed, size)
        + names + littleEndian(comment.utf8.count, 2) + littleEndian(disk, 2) + littleEndian(0, 2)
        + littleEndian(attributes, 4)
        + littleEndian(offset, 4) + Array(name.utf8) + extra + Array(comment.utf8)
}

/// Returns the local header of a member.
func local(
    _ name: String, flags: Int = 0, method: Int = 8, checksum: Int = 7, compressed: Int = 5, size: Int = 9,
    extra: [UInt8] = []
) -> [UInt8] {
    littleEndian(0x0403_4B50, 4) + littleEndian(20, 2) + sharedFields(flags, method, checksum, compressed, size)
        + littleEndian(name.utf8.count, 2) + littleEndian(extra.count, 2) + Array(name.utf8) + extra
}

/// Returns an extra field.
func field(_ code: Int, _ bytes: [UInt8]) -> [UInt8] { littleEndian(code, 2) + littleEndian(bytes.count, 2) + bytes }

/// Returns the end record.
func end(disk: Int = 0, count: Int, all: Int? = nil, size: Int, start: Int, comment: String = "") -> [UInt8] {
    littleEndian(0x0605_4B50, 4) + littleEndian(disk, 2) + littleEndian(0, 2) + littleEndian(count, 2)
        + littleEndian(all ?? count, 2)
        + littleEndian(size, 4)
        + littleEndian(start, 4) + littleEndian(comment.utf8.count, 2) + Array(comment.utf8)
}

/// Returns the Zip64 record and its locator.
func zip64End(count: Int, all: Int? = nil, size: Int, start: Int, at offset: Int, disks: Int = 1) -> [UInt8] {
    littleEndian(0x0606_4B50, 4) + littleEndian(44, 8) + littleEndian(45, 2) + littleEndian(45, 2) + littleEndian(0, 4)
        + littleEndian(0, 4)
        + littleEndian(count, 8) + littleEndian(all ?? count, 8) + littleEndian(size, 8) + littleEndian(start, 8)
        + littleEndian(0x0706_4B50, 4) + littleEndian(0, 4) + littleEndian(offset, 8) + littleEndian(disks, 4)
}
