import Bytes

/// An XML property list that was converted from UTF-16 to UTF-8, with a mapping from UTF-8 offsets to source offsets.
///
/// Source: <doc:KeyedArchives>, A.1.
struct UTF16Source {
    /// The text as UTF-8, without the byte order mark.
    private(set) var utf8: [UInt8] = []
    /// The source offset of the character that contains each 64th byte of `utf8`.
    private var checkpoints: [UInt32] = []

    private static let checkpointInterval = 64
    private static let byteOrderMarkLength = 2

    /// Returns whether the byte order mark of `source` is big-endian, or `nil` if there is no byte order mark.
    static func isBigEndian(_ source: Span<UInt8>) -> Bool? {
        guard source.count >= byteOrderMarkLength else { return nil }
        switch (source[0], source[1]) {
        case (0xFE, 0xFF): return true
        case (0xFF, 0xFE): return false
        default: return nil
        }
    }

    /// Converts a source that begins with a byte order mark.
    init(_ source: Span<UInt8>, isBigEndian: Bool) throws(PropertyListError) {
        guard source.count.isMultiple(of: 2) else {
            throw PropertyListError(.xmlSyntax, at: source.count - 1, "half a character of UTF-16")
        }
        utf8.reserveCapacity(source.count / 2)
        var scalars = UTF16Scalars(source, isBigEndian: isBigEndian)
        // Skip the byte order mark.
        _ = scalars.next()
        while !scalars.isAtEnd {
            let start = scalars.index
            guard let scalar = scalars.next() else {
                throw PropertyListError(.xmlSyntax, at: start, "half a character of UTF-16")
            }
            if scalar.isASCII { utf8.append(UInt8(truncatingIfNeeded: scalar.value)) } else { utf8 += scalar.utf8 }
            // Checkpoints are added after the character, so that checkpoint n is the character that contains byte 64n.
            while checkpoints.count * Self.checkpointInterval < utf8.count { checkpoints.append(UInt32(start)) }
        }
    }

    /// Returns the characters after the byte order mark in the first `limit` bytes of `source`, as Latin-1.
    ///
    /// Characters that Latin-1 does not contain become 0xFF.
    static func latin1Prefix(of source: Span<UInt8>, isBigEndian: Bool, limit: Int) -> [UInt8] {
        let high = isBigEndian ? 0 : 1
        return stride(from: byteOrderMarkLength, to: min(source.count, limit) - 1, by: 2).map { index in
            source[index + high] == 0 ? source[index + 1 - high] : 0xFF
        }
    }

    /// Returns the offset in `source` of the character whose UTF-8 contains the byte at `index`.
    func offset(of index: Int, in source: Span<UInt8>) -> Int {
        guard index < utf8.count else { return source.count }
        var offset = Int(checkpoints[index / Self.checkpointInterval])
        var position = index / Self.checkpointInterval * Self.checkpointInterval
        // Move back to the first byte of the character at the checkpoint.
        while position > 0, utf8[position] & 0xC0 == 0x80 { position -= 1 }
        while position < index {
            var next = position + 1
            while next < utf8.count, utf8[next] & 0xC0 == 0x80 { next += 1 }
            if next > index { break }
            // A character of four bytes in UTF-8 consists of two units in UTF-16.
            offset += next - position == 4 ? 4 : 2
            position = next
        }
        return offset
    }
}
