extension ArraySlice<UInt8> {
    /// Whether the bytes are the beginning of a character that the text ends inside.
    var isCutCharacter: Bool {
        guard let first, (0xC2...0xF4).contains(first), count < 4 else { return false }
        return dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
    }

    /// Whether the bytes are the beginning of an escaped pair of surrogates that the text ends inside.
    var isCutSurrogatePair: Bool {
        count == 6 || (count == 7 && last == UInt8(ascii: "\\"))
    }
}
