extension ArraySlice<UInt8> {
    /// Whether the bytes are the start of a UTF-8 character whose end is missing.
    var isTruncatedCharacter: Bool {
        guard let first, (0xC2...0xF4).contains(first), count < 4 else { return false }
        return dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
    }

    /// Whether the bytes are the start of an escaped surrogate pair whose end is missing.
    var isTruncatedSurrogatePair: Bool {
        count == 6 || (count == 7 && last == UInt8(ascii: "\\"))
    }
}
