/// The header of a tar archive of the kind before POSIX, which has no signature: only its checksum tells it.
///
/// Source: the manual of Unix, version 7, `tar(5)`.
enum OldTarHeader {
    private static let size = 512
    private static let checksum = 148..<156

    /// Whether bytes begin with such a header.
    static func begins(_ head: [UInt8]) -> Bool {
        guard head.count >= size, head[0] != 0, let stored = octalNumber(head[checksum]) else { return false }
        // The sum of all bytes, those of the checksum itself taken for spaces. Some programs took bytes for signed.
        var (unsigned, signed) = (0, 0)
        for index in 0..<size {
            let byte = checksum.contains(index) ? UInt8(ascii: " ") : head[index]
            unsigned += Int(byte)
            signed += Int(Int8(bitPattern: byte))
        }
        return stored == unsigned || stored == signed
    }

    /// Spaces, octal digits, then a space or a NUL.
    private static func octalNumber(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.drop { $0 == UInt8(ascii: " ") }.prefix {
            (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0)
        }
        guard !digits.isEmpty else { return nil }
        return digits.reduce(0) { $0 << 3 | Int($1 & 7) }
    }
}
