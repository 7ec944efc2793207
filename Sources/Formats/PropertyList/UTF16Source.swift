import Bytes

/// An XML property list in UTF-16 behind its byte order mark, rewritten as UTF-8, and the way back from the places in it.
///
/// Source: <doc:KeyedArchives>, A.1.
struct UTF16Source {
    /// The text as UTF-8, without the mark.
    private(set) var utf8: [UInt8] = []
    /// Where in the source the character stands that holds or begins each 64th byte of the text.
    private var landmarks: [UInt32] = []

    private static let step = 64
    /// How many bytes the mark has.
    private static let markLength = 2

    /// Whether bytes begin with a mark of UTF-16, and in which order its bytes come then; nil if they do not.
    static func isBigEndian(_ source: Span<UInt8>) -> Bool? {
        guard source.count >= markLength else { return nil }
        switch (source[0], source[1]) {
        case (0xFE, 0xFF): return true
        case (0xFF, 0xFE): return false
        default: return nil
        }
    }

    /// Rewrites a source of which ``isBigEndian(_:)`` is known.
    /// - Throws: ``PropertyListError`` for half a unit and for half a character.
    init(_ source: Span<UInt8>, isBigEndian: Bool) throws(PropertyListError) {
        guard source.count.isMultiple(of: 2) else {
            throw PropertyListError(.xmlSyntax, at: source.count - 1, "half a character of UTF-16")
        }
        utf8.reserveCapacity(source.count / 2)
        var scalars = UTF16Scalars(source, isBigEndian: isBigEndian)
        // The byte order mark is no part of the text.
        _ = scalars.next()
        while !scalars.isAtEnd {
            let start = scalars.index
            guard let scalar = scalars.next() else {
                throw PropertyListError(.xmlSyntax, at: start, "half a character of UTF-16")
            }
            if scalar.isASCII { utf8.append(UInt8(truncatingIfNeeded: scalar.value)) } else { utf8 += scalar.utf8 }
            // Noted behind the last byte: the first landmark is the character that holds byte 0.
            while landmarks.count * Self.step < utf8.count { landmarks.append(UInt32(start)) }
        }
    }

    /// Returns the characters in the first `limit` bytes of `source`, with 0xFF for those beyond Latin-1.
    static func head(of source: Span<UInt8>, isBigEndian: Bool, limit: Int) -> [UInt8] {
        let high = isBigEndian ? 0 : 1
        return stride(from: markLength, to: min(source.count, limit) - 1, by: 2).map { index in
            source[index + high] == 0 ? source[index + 1 - high] : 0xFF
        }
    }

    /// The byte of the source at which the character stands that a byte of the text belongs to.
    /// - Parameter source: the same as before.
    func offset(of place: Int, in source: Span<UInt8>) -> Int {
        guard place < utf8.count else { return source.count }
        var offset = Int(landmarks[place / Self.step])
        var position = place / Self.step * Self.step
        // Back to the first byte of the character at the landmark.
        while position > 0, utf8[position] & 0xC0 == 0x80 { position -= 1 }
        while position < place {
            var next = position + 1
            while next < utf8.count, utf8[next] & 0xC0 == 0x80 { next += 1 }
            if next > place { break }
            // What takes four bytes is two units of UTF-16.
            offset += next - position == 4 ? 4 : 2
            position = next
        }
        return offset
    }
}
