/// Numbers as zip archives have them.
func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

/// What both headers of a member begin with, from the flags on to the size.
private func shared(_ flags: Int, _ method: Int, _ checksum: Int, _ compressed: Int, _ size: Int) -> [UInt8] {
    little(flags, 2) + little(method, 2) + little(0, 4) + little(checksum, 4) + little(compressed, 4) + little(size, 4)
}

/// An entry of the directory.
func entry(
    _ name: String, flags: Int = 0, method: Int = 8, checksum: Int = 7, compressed: Int = 5, size: Int = 9,
    extra: [UInt8] = [], comment: String = "", disk: Int = 0, system: Int = 3, attributes: Int = 0o100644 << 16,
    offset: Int = 0
) -> [UInt8] {
    let names = little(name.utf8.count, 2) + little(extra.count, 2)
    return little(0x0201_4B50, 4) + [20, UInt8(system)] + little(20, 2)
        + shared(flags, method, checksum, compressed, size)
        + names + little(comment.utf8.count, 2) + little(disk, 2) + little(0, 2) + little(attributes, 4)
        + little(offset, 4) + Array(name.utf8) + extra + Array(comment.utf8)
}

/// The header of a member.
func local(
    _ name: String, flags: Int = 0, method: Int = 8, checksum: Int = 7, compressed: Int = 5, size: Int = 9,
    extra: [UInt8] = []
) -> [UInt8] {
    little(0x0403_4B50, 4) + little(20, 2) + shared(flags, method, checksum, compressed, size)
        + little(name.utf8.count, 2) + little(extra.count, 2) + Array(name.utf8) + extra
}

/// An extra field.
func field(_ code: Int, _ bytes: [UInt8]) -> [UInt8] { little(code, 2) + little(bytes.count, 2) + bytes }

/// The record of the end.
func end(disk: Int = 0, count: Int, all: Int? = nil, size: Int, start: Int, comment: String = "") -> [UInt8] {
    little(0x0605_4B50, 4) + little(disk, 2) + little(0, 2) + little(count, 2) + little(all ?? count, 2)
        + little(size, 4)
        + little(start, 4) + little(comment.utf8.count, 2) + Array(comment.utf8)
}

/// The record and the locator in front of the end.
func largeEnd(count: Int, all: Int? = nil, size: Int, start: Int, at place: Int, disks: Int = 1) -> [UInt8] {
    little(0x0606_4B50, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4)
        + little(count, 8) + little(all ?? count, 8) + little(size, 8) + little(start, 8)
        + little(0x0706_4B50, 4) + little(0, 4) + little(place, 8) + little(disks, 4)
}
