extension ArraySlice<UInt8> {
    /// Whether the bytes are the start of an incomplete UTF-8 character.
    ///
    /// The bytes must be invalid as UTF-8, because a complete character is not ruled out.
    var isTruncatedCharacter: Bool {
        guard let first, (0xC2...0xF4).contains(first), count < 4 else { return false }
        return dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
    }

    /// Whether the bytes, which start with an unpaired escaped surrogate, end before the other half of the pair.
    var isTruncatedSurrogatePair: Bool {
        count == 6 || (count == 7 && last == UInt8(ascii: "\\"))
    }
}
