import JSONText

/// Seconds since 1970 as an exact decimal number with up to 18 decimal places.
///
/// A floating-point number would round such a time and could change the order of files.
public struct DecimalTime: Sendable, Hashable, Comparable {
    /// The whole seconds, rounded down.
    public let seconds: Int64
    /// The fraction of a second, in units of 10⁻¹⁸ seconds.
    public let fraction: UInt64

    private static let unit: UInt64 = 1_000_000_000_000_000_000

    /// Creates a time from a JSON number or from the digits in a file name.
    ///
    /// Returns `nil` if `text` is not a number. The time is clamped to ±10¹⁸ seconds.
    public init?(_ text: Span<UInt8>) {
        if let plain = Self.plain(text) {
            self = plain
            return
        }
        guard let parts = DecimalParts(text) else { return nil }
        guard parts.pointPosition <= 18 else {
            self.init(seconds: parts.isNegative ? -Int64(Self.unit) : Int64(Self.unit), fraction: 0)
            return
        }
        var seconds: Int64 = 0
        var fraction: UInt64 = 0
        for place in 0..<18 + max(parts.pointPosition, 0) {
            let index = parts.pointPosition < 0 ? place + parts.pointPosition : place
            let digit = parts.digits.indices.contains(index) ? parts.digits[index] & 0xF : 0
            if place < parts.pointPosition {
                seconds = seconds * 10 + Int64(digit)
            } else {
                fraction = fraction * 10 + UInt64(digit)
            }
        }
        if parts.isNegative {
            seconds = fraction > 0 ? -seconds - 1 : -seconds
            fraction = fraction > 0 ? Self.unit - fraction : 0
        }
        self.init(seconds: seconds, fraction: fraction)
    }

    /// Reads a number with at most 18 digits before and 18 after an optional point.
    ///
    /// This is the fast path. Returns `nil` for a number in any other form.
    private static func plain(_ text: Span<UInt8>) -> DecimalTime? {
        var index = 0
        var seconds: Int64 = 0
        while index < text.count, text[index].isDigit {
            guard index < 18 else { return nil }
            seconds = seconds * 10 + Int64(text[index] & 0xF)
            index += 1
        }
        guard index > 0 else { return nil }
        guard index < text.count else { return DecimalTime(seconds: seconds, fraction: 0) }
        guard text[index] == UInt8(ascii: "."), (2...19).contains(text.count - index) else { return nil }
        var fraction: UInt64 = 0
        var scale = unit
        for place in (index + 1)..<text.count {
            guard text[place].isDigit else { return nil }
            scale /= 10
            fraction += UInt64(text[place] & 0xF) * scale
        }
        return DecimalTime(seconds: seconds, fraction: fraction)
    }

    private init(seconds: Int64, fraction: UInt64) {
        self.seconds = seconds
        self.fraction = fraction
    }

    /// The instant, truncated to milliseconds, or `nil` outside the years 1970 to 9999.
    public var timestamp: Timestamp? {
        guard (0..<253_402_300_800).contains(seconds) else { return nil }
        return Timestamp(milliseconds: seconds * 1000 + Int64(fraction / (Self.unit / 1000)))
    }

    /// Returns whether `left` is earlier than `right`.
    public static func < (left: DecimalTime, right: DecimalTime) -> Bool {
        (left.seconds, left.fraction) < (right.seconds, right.fraction)
    }
}
