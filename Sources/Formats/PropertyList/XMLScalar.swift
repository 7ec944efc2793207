import Bytes
import CivilTime
import JSONText

/// Parsers for the numbers, dates and references of XML property lists.
///
/// Source: <doc:KeyedArchives>, A.6.
enum XMLScalar {
    /// Returns the value of a decimal integer, or of a hexadecimal integer with the prefix `0x`.
    ///
    /// Returns `nil` if `text` is malformed or the value is not in the range −2^63 to 2^64 − 1.
    static func integer(_ text: Span<UInt8>) -> PropertyListInteger? {
        var bytes = trimmed(text)
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        if isNegative || (bytes.count > 0 && bytes[0] == UInt8(ascii: "+")) { bytes = bytes.extracting(1...) }
        let isHexadecimal = bytes.count > 2 && bytes[0] == UInt8(ascii: "0") && bytes[1] | 0x20 == UInt8(ascii: "x")
        if isHexadecimal { bytes = bytes.extracting(2...) }
        guard !bytes.isEmpty else { return nil }
        let radix: UInt64 = isHexadecimal ? 16 : 10
        var magnitude: UInt64 = 0
        for index in bytes.indices {
            guard let digit = bytes[index].hexadecimalValue, digit < radix else { return nil }
            let product = magnitude.multipliedReportingOverflow(by: radix)
            let sum = product.partialValue.addingReportingOverflow(UInt64(digit))
            guard !product.overflow, !sum.overflow else { return nil }
            magnitude = sum.partialValue
        }
        guard isNegative, magnitude > 0 else { return PropertyListInteger(bits: magnitude, isNegative: false) }
        guard magnitude <= 1 << 63 else { return nil }
        return PropertyListInteger(bits: 0 &- magnitude, isNegative: true)
    }

    /// Returns the value of a decimal number, or of `nan`, `inf` or `infinity` in any letter case.
    static func real(_ text: Span<UInt8>) -> Double? {
        let word = String(readingUTF8: trimmed(text)).lowercased()
        let unsigned = word.hasPrefix("-") || word.hasPrefix("+") ? String(word.dropFirst()) : word
        switch unsigned {
        case "nan": return .nan
        case "inf", "infinity": return word.hasPrefix("-") ? -.infinity : .infinity
        default:
            // Double(_:) also accepts hexadecimal numbers, which are rejected here.
            guard unsigned.utf8.allSatisfy({ $0.isDigit || [0x2B, 0x2D, 0x2E, 0x65].contains($0) })
            else { return nil }
            return Double(word)
        }
    }

    /// Returns the seconds from 2001-01-01T00:00:00Z to a date in the format `YYYY-MM-DDThh:mm:ssZ`.
    static func date(_ text: Span<UInt8>) -> Double? {
        var bytes = trimmed(text)
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        if isNegative { bytes = bytes.extracting(1...) }
        guard bytes.count >= 20, bytes.count <= 24 else { return nil }
        let yearLength = bytes.count - 16
        for (offset, sign) in [(0, "-"), (3, "-"), (6, "T"), (9, ":"), (12, ":"), (15, "Z")] {
            guard bytes[yearLength + offset] == sign.utf8.first else { return nil }
        }
        guard let year = bytes.extracting(..<yearLength).decimalNumber,
            let month = bytes.extracting(yearLength + 1..<yearLength + 3).decimalNumber,
            let day = bytes.extracting(yearLength + 4..<yearLength + 6).decimalNumber,
            let hour = bytes.extracting(yearLength + 7..<yearLength + 9).decimalNumber, hour < 24,
            let minute = bytes.extracting(yearLength + 10..<yearLength + 12).decimalNumber, minute < 60,
            let second = bytes.extracting(yearLength + 13..<yearLength + 15).decimalNumber, second < 61,
            let date = CivilDate(year: isNegative ? -year : year, month: month, day: day)
        else { return nil }
        return Double((date.daysSinceEpoch * 24 + hour) * 3600 + minute * 60 + second) - PropertyListDate.epoch
    }

    /// Returns the scalar that `&name;` refers to, or `nil` if `name` is neither predefined nor a character number.
    static func reference(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
            return (digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits))
                .flatMap(Unicode.Scalar.init)
        }
    }

    @_lifetime(copy text)
    private static func trimmed(_ text: Span<UInt8>) -> Span<UInt8> {
        var start = 0
        var end = text.count
        while start < end, text[start].isBlank { start += 1 }
        while end > start, text[end - 1].isBlank { end -= 1 }
        return text.extracting(start..<end)
    }
}
