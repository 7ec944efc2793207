/// Returns a tar archive with a mixture of headers and extended headers.
///
/// Almost all checksums are correct, because a header with a wrong checksum is not examined further.
func generatedTar(_ choices: inout Choices) -> [UInt8] {
    var archive: [UInt8] = []
    for _ in 0..<8 where !choices.isEmpty {
        appendEntry(to: &archive, &choices)
        if choices.isRare() { archive += zeros(512) }
    }
    archive += choices.one(of: [zeros(1024), zeros(1024), zeros(1024), zeros(10240), zeros(512), [], zeros(700)])
    if choices.isRare() { archive += Array("trailing bytes".utf8) }
    return archive
}

private func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

private func appendEntry(to archive: inout [UInt8], _ choices: inout Choices) {
    let kind = choices.one(of: Array("00000552211LLKKxxxxg7SMDNVAX346z\u{0}".utf8))
    let contents: [UInt8] =
        switch kind {
        case UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "X"): records(&choices)
        case UInt8(ascii: "L"), UInt8(ascii: "K"): choices.name() + choices.one(of: [[0], [], [0, 0x61]])
        case UInt8(ascii: "0"), UInt8(ascii: "7"), UInt8(ascii: "S"), UInt8(ascii: "M"): choices.contents()
        default: choices.isRare() ? choices.contents() : []
        }
    archive += header(kind, of: contents.count, &choices)
    archive += contents
    if !choices.isRare() { archive += zeros(-contents.count & 511) }
}

private func header(_ kind: UInt8, of size: Int, _ choices: inout Choices) -> [UInt8] {
    var block = zeros(512)
    func put(_ bytes: some Collection<UInt8>, at offset: Int, _ length: Int) {
        for (index, byte) in bytes.prefix(length).enumerated() { block[offset + index] = byte }
    }
    put(choices.name(), at: 0, 100)
    put(choices.one(of: ["0000644\u{0}", "0000644\u{0}", "", "zz", "0100755\u{0}"]).utf8, at: 100, 8)
    put("0000000\u{0}0000000\u{0}".utf8, at: 108, 16)
    put(sizeField(size, &choices), at: 124, 12)
    put(choices.one(of: ["00000000000\u{0}", "00000000000\u{0}", "", "-1", "9"]).utf8, at: 136, 12)
    block[156] = kind
    let isLink = kind == UInt8(ascii: "1") || kind == UInt8(ascii: "2")
    if isLink != choices.isRare() { put(choices.name(), at: 157, 100) }
    let magic = choices.one(of: [
        "ustar\u{0}00", "ustar\u{0}00", "ustar  \u{0}", "ustar  \u{0}", "", "ustar\u{0}  ", "ustar00",
    ])
    put(magic.utf8, at: 257, 8)
    if choices.isRare() { put(choices.name(), at: 345, 155) }
    if choices.isRare() { block[choices.number(below: 256) * 2] = UInt8(choices.number(below: 256)) }
    putChecksum(in: &block, &choices)
    return block
}

private func sizeField(_ size: Int, _ choices: inout Choices) -> [UInt8] {
    let digits = String(size, radix: 8)
    let padded = String(repeating: "0", count: 11 - digits.count) + digits
    let binary = [0x80] + zeros(9) + [UInt8(size >> 8), UInt8(size & 0xFF)]
    return switch choices.number(below: 16) {
    case 0: Array("0\(padded)".utf8)
    case 1: binary
    case 2: Array("   \(digits) ".utf8)
    case 3: choices.one(of: ["", "-1", "8", "7\u{0}7", "77777777777", "1x", " "]).utf8.map { $0 }
    case 4: choices.one(of: [[0xFF] + zeros(11), Array(repeating: 0xFF, count: 12), [0x81] + zeros(11)])
    default: Array("\(padded)\u{0}".utf8)
    }
}

private func putChecksum(in block: inout [UInt8], _ choices: inout Choices) {
    block.replaceSubrange(148..<156, with: repeatElement(UInt8(ascii: " "), count: 8))
    var sum = block.reduce(0) { $0 + Int($1) }
    switch choices.number(below: 32) {
    case 1: sum = block.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }
    case 2: sum += 1
    default: break
    }
    let digits = String(max(sum, 0), radix: 8)
    let field = String(repeating: "0", count: 6 - digits.count) + digits
    let ends = ["\u{0} ", "\u{0} ", "\u{0} ", " \u{0}", "  ", "\u{0}\u{0}", "\u{0}7"]
    block.replaceSubrange(148..<156, with: (field + choices.one(of: ends)).utf8)
}

private func records(_ choices: inout Choices) -> [UInt8] {
    var contents: [UInt8] = []
    for _ in 0..<choices.number(below: 4) {
        let key = choices.one(of: keys)
        let value: [UInt8] =
            choices.number(below: 3) == 0 ? choices.name() : Array(choices.one(of: values).utf8)
        var record = Array(" \(key)=".utf8) + value + [UInt8(ascii: "\n")]
        if choices.isRare() { record[record.count - 1] = UInt8(ascii: " ") }
        var length = record.count + 1
        if String(length).utf8.count + record.count > length { length = String(length).utf8.count + record.count }
        if choices.isRare() { length += choices.number(below: 3) - 1 }
        contents += Array(String(length).utf8) + record
    }
    return contents
}

private let keys = [
    "path", "path", "path", "linkpath", "size", "size", "mtime", "atime", "uid", "uname", "comment", "hdrcharset",
    "GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize", "GNU.sparse.map",
    "GNU.sparse.size",
    "GNU.sparse.numblocks", "SCHILY.filetype", "SCHILY.realsize", "SCHILY.xattr.a", "SCHILY.acl.access", "SCHILY.dev",
    "LIBARCHIVE.xattr.a", "LIBARCHIVE.symlinktype", "LIBARCHIVE.creationtime", "SUN.holesdata", "RHT.security.selinux",
    "MSWINDOWS.rawsd", "", "unknown",
]

private let values = [
    "", "0", "1", "5", "512", "513", "-1", "x", "BINARY", "ISO-IR 10646 2000 UTF-8", "0,5", "99999999999999999999",
    "1.5", "dir", "a",
]
