/// A string that can be unescaped in several steps.
///
/// The position of each byte in the original string is preserved.
///
/// A letter can occur as itself, as `%70`, `\u0070`, `&#112;`, or as a combination of these.
struct EscapedText {
    /// The escape notations to decode.
    struct Escapes: OptionSet {
        let rawValue: Int
        /// Percent-encoding: `%70` and `%u0070`.
        static let percent = Escapes(rawValue: 1)
        /// Backslash escapes in JSON and programming languages: `\u0070`, `\u{70}`, `\U00000070`, `\x70`, `\160` and
        /// `\/`.
        static let backslash = Escapes(rawValue: 2)
        /// Character references in HTML and XML: `&#112;`, `&#x70;` and `&amp;`.
        static let entity = Escapes(rawValue: 4)
        static let all: Escapes = [.percent, .backslash, .entity]
    }

    /// The bytes of the string after all previous decoding steps.
    private(set) var bytes: [UInt8]
    /// The range in the original string that each byte of ``bytes`` was decoded from.
    private(set) var sourceRanges: [Range<Int>]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        sourceRanges = bytes.indices.map { $0..<$0 + 1 }
    }

    /// Decodes each escape once.
    ///
    /// Returns whether the string contained any escapes.
    mutating func decode(_ escapes: Escapes) -> Bool {
        var (decoded, from): ([UInt8], [Range<Int>]) = ([], [])
        decoded.reserveCapacity(bytes.count)
        from.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let (value, length) = escape(at: index, escapes) ?? (bytes[index], 1)
            decoded.append(value)
            from.append(sourceRanges[index].lowerBound..<sourceRanges[index + length - 1].upperBound)
            index += length
        }
        guard decoded.count < bytes.count else { return false }
        (bytes, sourceRanges) = (decoded, from)
        return true
    }

    /// Returns the index of an incomplete escape at the end of the string, or the end index if there is none.
    func startOfIncompleteEscape() -> Int {
        let longest = 12
        for index in bytes.indices.suffix(longest).reversed() where "%\\&".utf8.contains(bytes[index]) {
            return escape(at: index, .all) == nil ? index : bytes.count
        }
        return bytes.count
    }

    // MARK: Escapes

    private func escape(at index: Int, _ escapes: Escapes) -> (value: UInt8, length: Int)? {
        switch bytes[index] {
        case UInt8(ascii: "%") where escapes.contains(.percent):
            if let value = hex(index + 1, 2) { return (value, 3) }
            guard byte(index + 1).map({ $0 | 0x20 }) == UInt8(ascii: "u") else { return nil }
            return hex(index + 2, 4).map { ($0, 6) }
        case UInt8(ascii: "\\") where escapes.contains(.backslash): return backslash(at: index)
        case UInt8(ascii: "&") where escapes.contains(.entity): return entity(at: index)
        default: return nil
        }
    }

    private func backslash(at index: Int) -> (value: UInt8, length: Int)? {
        guard let next = byte(index + 1) else { return nil }
        switch next {
        case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "x"), UInt8(ascii: "X"):
            if byte(index + 2) == UInt8(ascii: "{") { return braced(at: index) }
            let digits = next == UInt8(ascii: "u") ? 4 : next == UInt8(ascii: "U") ? 8 : 2
            return hex(index + 2, digits).map { ($0, 2 + digits) }
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            return number(index + 1, digits: 3...3, radix: 8).map { ($0.value, 4) }
        case UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"), UInt8(ascii: "v"):
            return (UInt8(ascii: " "), 2)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "8"),
            UInt8(ascii: "9"), UInt8(ascii: "%"), UInt8(ascii: "&"), 0x80...:
            // The escape may become complete when the bytes after it are decoded, because they can be escaped
            // themselves.
            return nil
        default: return (next, 2)
        }
    }

    /// Decodes an escape such as `\u{70}`, or returns `nil` if the escape is incomplete or malformed.
    private func braced(at index: Int) -> (value: UInt8, length: Int)? {
        guard let (value, digits) = number(index + 3, digits: 1...8, radix: 16),
            byte(index + 3 + digits) == UInt8(ascii: "}")
        else { return nil }
        return (value, 4 + digits)
    }

    private func entity(at index: Int) -> (value: UInt8, length: Int)? {
        if byte(index + 1) == UInt8(ascii: "#") {
            let isHex = byte(index + 2).map { $0 | 0x20 } == UInt8(ascii: "x")
            let start = index + (isHex ? 3 : 2)
            guard let (value, digits) = number(start, digits: 1...8, radix: isHex ? 16 : 10) else { return nil }
            let end = start + digits
            switch byte(end) {
            case UInt8(ascii: ";"): return (value, end + 1 - index)
            // The number may continue, because the next bytes can be an escape for another digit.
            case UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "\\"): return nil
            default: return (value, end - index)
            }
        }
        for (name, value) in Self.names where bytes[(index + 1)...].starts(with: name.utf8) {
            return (UInt8(ascii: value), 1 + name.utf8.count)
        }
        return nil
    }

    private static let names: [(String, Unicode.Scalar)] = [
        ("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'"), ("sol;", "/"), ("bsol;", "\\"),
        ("plus;", "+"), ("equals;", "="), ("percnt;", "%"), ("lowbar;", "_"), ("period;", "."), ("num;", "#"),
    ]

    private func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func hex(_ index: Int, _ digits: Int) -> UInt8? { number(index, digits: digits...digits, radix: 16)?.value }

    /// Reads the number at `index`, and returns its value and its number of digits.
    ///
    /// The value is 0xFF if the number is not the code of an ASCII character. Returns `nil` if there are too few
    /// digits.
    private func number(_ index: Int, digits: ClosedRange<Int>, radix: Int) -> (value: UInt8, digits: Int)? {
        var (value, count) = (0, 0)
        while count < digits.upperBound, let digit = byte(index + count)?.hexadecimalValue, digit < radix {
            value = value * radix + Int(digit)
            count += 1
        }
        guard count >= digits.lowerBound else { return nil }
        return (value < 0x80 ? UInt8(value) : 0xFF, count)
    }
}
