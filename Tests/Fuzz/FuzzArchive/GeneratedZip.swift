/// Returns a zip archive in which some fields contradict each other.
func generatedZip(_ choices: inout Choices) -> [UInt8] {
    var archive: [UInt8] = []
    var directory: [[UInt8]] = []
    if choices.isRare() { archive += Array("something in front".utf8) }
    for _ in 0..<6 where !choices.isEmpty {
        let member = ZipMember(&choices)
        let offset = archive.count
        archive += member.local(&choices)
        let entry = member.central(at: choices.isRare() ? max(offset - 1, 0) : offset, &choices)
        directory.insert(entry, at: choices.isRare() ? 0 : directory.count)
        if choices.isRare() { directory.append(entry) }
        if choices.isRare() { archive += Array("between".utf8) }
    }
    let start = archive.count
    for entry in directory { archive += entry }
    archive += end(of: directory.count, start..<archive.count, &choices)
    return archive
}

private func end(of count: Int, _ directory: Range<Int>, _ choices: inout Choices) -> [UInt8] {
    let comment = choices.isRare() ? Array("a comment".utf8) : []
    var end: [UInt8] = []
    if choices.isRare() {
        end += field(0x0606_4B50, 4) + field(44, 8) + field(45, 2) + field(45, 2) + field(0, 8)
        end += field(count, 8) + field(count, 8) + field(directory.count, 8) + field(directory.lowerBound, 8)
        end += field(0x0706_4B50, 4) + field(0, 4) + field(directory.upperBound, 8) + field(1, 4)
    }
    let statedCount = choices.isRare() ? count + 1 : count
    end +=
        field(0x0605_4B50, 4) + field(0, 4) + field(statedCount, 2) + field(statedCount, 2) + field(directory.count, 4)
    end += field(choices.isRare() ? directory.lowerBound + 1 : directory.lowerBound, 4) + field(comment.count, 2)
    return end + comment
}

private func field(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private struct ZipMember {
    let name: [UInt8]
    let contents: [UInt8]
    let packed: [UInt8]
    let flags: Int
    let method: Int
    let checksum: Int

    init(_ choices: inout Choices) {
        name = choices.name()
        contents = choices.contents()
        method = choices.one(of: [0, 0, 0, 8, 8, 8, 9, 12, 14, 93, 99])
        flags = choices.one(of: [0, 0, 0, 8, 8, 0x800, 0x808, 2, 1, 0x2000, 0x40])
        checksum = choices.isRare() ? 0 : crc(contents)
        // One stored block.
        let block = [1] + field(contents.count, 2) + field(contents.count ^ 0xFFFF, 2) + contents
        packed = (method == 8 ? block : contents) + (choices.isRare() ? [0] : [])
    }

    func local(_ choices: inout Choices) -> [UInt8] {
        let hasDescriptor = flags & 8 != 0 && !choices.isRare()
        let isLarge = choices.isRare()
        let large = isLarge && !choices.isRare() ? field(1, 2) + field(8, 2) + field(contents.count, 8) : []
        let extra = large + extras(&choices)
        var name = name
        if choices.isRare() { name = choices.name() }
        var bytes = field(0x0403_4B50, 4) + field(20, 2) + field(choices.isRare() ? 0 : flags, 2)
        bytes += field(choices.isRare() ? 8 : method, 2) + field(0, 4) + field(hasDescriptor ? 0 : checksum, 4)
        bytes +=
            field(hasDescriptor ? 0 : packed.count, 4)
            + field(isLarge ? 0xFFFF_FFFF : hasDescriptor ? 0 : contents.count, 4)
        bytes += field(name.count, 2) + field(extra.count, 2) + name + extra + packed
        guard hasDescriptor, !choices.isRare() else { return bytes }
        if choices.number(below: 4) != 0 { bytes += field(0x0807_4B50, 4) }
        return bytes + field(checksum, 4) + field(packed.count, 4) + field(contents.count, 4)
    }

    func central(at offset: Int, _ choices: inout Choices) -> [UInt8] {
        let extra = extras(&choices)
        let comment = choices.isRare() ? Array("comment".utf8) : []
        let system = choices.one(of: [3, 3, 3, 0, 0, 10, 19])
        let mode = choices.one(of: [0o100644, 0o100644, 0, 0o040755, 0o120777, 0o010644, 0o140644, 0o644])
        let attributes = mode << 16 | choices.one(of: [0, 0, 0, 0x10, 0x20])
        let isLarge = choices.isRare()
        var bytes = field(0x0201_4B50, 4) + field(20 | system << 8, 2) + field(20, 2) + field(flags, 2)
        bytes += field(method, 2) + field(0, 4) + field(checksum, 4) + field(packed.count, 4)
        bytes += field(isLarge ? 0xFFFF_FFFF : contents.count, 4) + field(name.count, 2)
        let large = isLarge ? field(1, 2) + field(8, 2) + field(contents.count, 8) : []
        bytes += field(large.count + extra.count, 2) + field(comment.count, 2) + field(0, 4) + field(attributes, 4)
        return bytes + field(offset, 4) + name + large + extra + comment
    }

    private func extras(_ choices: inout Choices) -> [UInt8] {
        guard choices.number(below: 4) == 1 else { return [] }
        let code = choices.one(of: [
            0x5455, 0x7875, 0x5855, 0x7075, 0x6375, 0x6C78, 0x0017, 0x9901, 0x000A, 0x0001, 0x4141,
        ])
        let unicodePath = [1] + field(crc(name), 4) + choices.name()
        let value = choices.one(of: [[], [1], [1, 0, 0, 0, 0], Array(repeating: 0, count: 12), unicodePath])
        return field(code, 2) + field(choices.isRare() ? value.count + 1 : value.count, 2) + value
    }
}

private func crc(_ bytes: [UInt8]) -> Int {
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
    }
    return Int(~sum)
}
