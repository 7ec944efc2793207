import Tar

/// Returns a POSIX header.
///
/// Other formats have a different `magic`.
func header(
    _ name: String, _ kind: Character = "0", size: Int = 0, target: String = "", prefix: String = "",
    magic: String = "ustar\u{0}00"
) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int) {
        block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    func octal(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: digits - text.count) + text
    }
    put(name, at: 0)
    put("0000644", at: 100)
    put(octal(size, 11), at: 124)
    put(String(kind), at: 156)
    put(target, at: 157)
    put(magic, at: 257)
    put(prefix, at: 345)
    return withChecksum(block)
}

/// Replaces the byte at `offset` with a letter and updates the checksum.
func changed(_ header: [UInt8], at offset: Int) -> [UInt8] {
    var block = header
    block[offset] = UInt8(ascii: "z")
    return withChecksum(block)
}

/// Sets the correct checksum of a header.
func withChecksum(_ header: [UInt8]) -> [UInt8] {
    var block = header
    for index in 148..<156 { block[index] = UInt8(ascii: " ") }
    let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
    let field = String(repeating: "0", count: 6 - sum.count) + sum + "\u{0} "
    block.replaceSubrange(148..<156, with: field.utf8)
    return block
}

/// Returns contents with their padding.
func padded(_ text: String) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: TarEntry.padding(of: text.utf8.count))
}

/// Returns a record of an extended header.
func record(_ key: String, _ value: String) -> String {
    let rest = " \(key)=\(value)\n".utf8.count
    let length = (1...).first { $0 == rest + String($0).count } ?? 0
    return "\(length) \(key)=\(value)\n"
}

let endMark = [UInt8](repeating: 0, count: 1024)
