import JSONText

/// A string as the binary form stores it: ASCII bytes or UTF-16BE units.
///
/// Source: <doc:KeyedArchives>, A.4.
struct StoredText: ~Escapable {
    let bytes: Span<UInt8>
    let isUTF16: Bool

    /// Reads the string of the checked object at `offset`.
    @_lifetime(copy bytes)
    @inline(__always)
    init(at offset: UInt32, in bytes: Span<UInt8>) {
        isUTF16 = bytes[Int(offset)] >> 4 == 6
        let extent = BinaryLayout.extent(at: offset, in: bytes)
        self.bytes = bytes.extracting(extent.start..<extent.start + (isUTF16 ? 2 * extent.count : extent.count))
    }

    /// The number of units, which are bytes if the string is ASCII.
    var count: Int { isUTF16 ? bytes.count / 2 : bytes.count }

    @inline(__always)
    func unit(at position: Int) -> UInt16 {
        isUTF16 ? UInt16(bytes[2 * position]) << 8 | UInt16(bytes[2 * position + 1]) : UInt16(bytes[position])
    }

    /// Returns whether the strings are equal, regardless of how they are stored.
    func equals(_ other: borrowing StoredText) -> Bool {
        if isUTF16 == other.isUTF16 { return bytes.equals(other.bytes) }
        guard count == other.count else { return false }
        for position in 0..<count where unit(at: position) != other.unit(at: position) { return false }
        return true
    }

    /// Whether the string is `CF$UID`, the key that marks a UID in XML.
    var isUID: Bool { !isUTF16 && bytes.equals("CF$UID") }

    /// Returns whether the string equals `text`, given as UTF-8.
    func equals(utf8 text: Span<UInt8>) -> Bool {
        guard isUTF16 else { return bytes.equals(text) }
        // A unit takes one to three bytes in UTF-8.
        guard count <= text.count, text.count <= 3 * count else { return false }
        var scalars = UTF16Scalars(bytes)
        var index = 0
        while !scalars.isAtEnd {
            for byte in (scalars.next() ?? "\u{FFFD}").utf8 {
                guard index < text.count, text[index] == byte else { return false }
                index += 1
            }
        }
        return index == text.count
    }

    /// A hash of all units that does not depend on how the string is stored.
    var fingerprint: UInt64 {
        let count = count
        var hash = UInt64(count) &* 0x9E37_79B9_7F4A_7C15
        var start = 0
        while start < count {
            let end = min(start + 8, count)
            Self.mix(&hash, packedBytes(from: start, to: end, shift: 0))
            if isUTF16 {
                let high = packedBytes(from: start, to: end, shift: 8)
                if high != 0 { Self.mix(&hash, high) }
            }
            start = end
        }
        return hash
    }

    @inline(__always)
    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        hash = (hash ^ word) &* 0xC2B2_AE3D_27D4_EB4F
        hash ^= hash >> 29
    }

    /// Returns a word of the low bytes of up to eight units, or of the high bytes if `shift` is 8.
    private func packedBytes(from start: Int, to end: Int, shift: UInt16) -> UInt64 {
        if !isUTF16, end - start == 8 { return bytes.word(at: start) }
        var word: UInt64 = 0
        for position in start..<end {
            word |= UInt64(unit(at: position) >> shift & 0xFF) << UInt64(8 * (position - start))
        }
        return word
    }
}
