import Bytes
import JSONText

/// An instant in the years 0000 to 9999, with a precision of milliseconds.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// The milliseconds since 1970-01-01T00:00:00Z, negative for earlier instants.
    public let milliseconds: Int64

    /// The exclusive end of the year 9999 in milliseconds since 1970.
    private static let end: Int64 = 253_402_300_800_000
    /// The beginning of the year 0000 in milliseconds since 1970.
    private static let start: Int64 = -62_167_219_200_000

    /// Creates an instant from milliseconds since 1970.
    ///
    /// Returns `nil` outside the years 1970 to 9999.
    public init?(milliseconds: Int64) {
        guard (0..<Self.end).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Creates an instant from milliseconds since 1970.
    ///
    /// Returns `nil` outside the years 0000 to 9999.
    public init?(inAnyYear milliseconds: Int64) {
        guard (Self.start..<Self.end).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Creates an instant from milliseconds since 1970, clamped to the years 1970 to 9999.
    public init(clamping milliseconds: Int64) { self.milliseconds = min(max(milliseconds, 0), Self.end - 1) }

    /// Whether the instant is in the years 2011 to 2199.
    ///
    /// A time on a phone that is outside these years results from a wrong clock or from a number in another unit.
    public var isPlausible: Bool { (1_293_840_000_000..<7_258_118_400_000).contains(milliseconds) }

    /// Returns whether `left` is earlier than `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

/// The plausibility of the clock that a time results from.
///
/// It depends only on the time and on the system, and not on the clock of this machine or on other records. The same record
/// therefore has the same value in every export.
///
/// Source: "Exports", section "Implausible times".
public enum ClockState: String, Sendable, CaseIterable {
    /// The time is neither too early nor too late.
    case plausible
    /// The time is earlier than the first version of the system's SDK.
    case beforeApp = "before-app"
    /// The time is in the year 2038 or later.
    case future

    /// The first millisecond of the year 2038, in which 32-bit clocks end.
    private static let startOfFuture = Timestamp(clamping: 2_145_916_800_000)

    /// Creates the state of the clock for `time`, where `earliest` is the earliest possible time.
    public init(of time: Timestamp, earliest: Timestamp) {
        self = time < earliest ? .beforeApp : time < Self.startOfFuture ? .plausible : .future
    }
}

extension Timestamp: CustomStringConvertible {
    /// The instant in the format of RFC 3339, in UTC with milliseconds, such as `2018-05-24T12:00:08.418Z`.
    public var description: String { String(readingUTF8: text.span) }

    /// The UTF-8 bytes of the description.
    var text: TextBuffer {
        var text = TextBuffer()
        text.append(atMost: 24) { write(to: &$0) }
        return text
    }

    /// Appends the description, which has 24 bytes.
    func write(to output: inout TextWriter) {
        let sinceStart = milliseconds - Self.start
        let time = Int(sinceStart % 86_400_000)
        let date = CivilDate(daysSinceEpoch: Int((sinceStart - Int64(time) + Self.start) / 86_400_000))
        output.append(twoDigits: date.year / 100)
        output.append(twoDigits: date.year % 100)
        output.append(UInt8(ascii: "-"))
        output.append(twoDigits: date.month)
        output.append(UInt8(ascii: "-"))
        output.append(twoDigits: date.day)
        output.append(UInt8(ascii: "T"))
        output.append(twoDigits: time / 3_600_000)
        output.append(UInt8(ascii: ":"))
        output.append(twoDigits: time / 60_000 % 60)
        output.append(UInt8(ascii: ":"))
        output.append(twoDigits: time / 1000 % 60)
        output.append(UInt8(ascii: "."))
        output.append(UInt8(ascii: "0") + UInt8(time % 1000 / 100))
        output.append(twoDigits: time % 100)
        output.append(UInt8(ascii: "Z"))
    }
}

extension Timestamp {
    /// Creates an instant from a date, or from a date and a time, in the format of RFC 3339.
    ///
    /// A date without a time means midnight UTC. A time needs `Z` or an offset, and is truncated to milliseconds.
    /// Returns `nil` if the string has neither format.
    public init?(rfc3339 text: String) { self.init(rfc3339: text.utf8.span) }

    /// Creates an instant from the UTF-8 bytes of a date, or a date and a time, in the format of RFC 3339.
    ///
    /// Returns `nil` if `bytes` have neither format, or if the instant is outside the years 0000 to 9999.
    public init?(rfc3339 bytes: Span<UInt8>) {
        guard let date = CivilDate(startOf: bytes) else { return nil }
        var milliseconds = Int64(date.daysSinceEpoch) * 86_400_000
        if bytes.count > 10 {
            guard let time = Self.timeOfDay(bytes.extracting(10...)) else { return nil }
            milliseconds += time
        }
        self.init(inAnyYear: milliseconds)
    }

    /// Returns the milliseconds since midnight UTC of `Thh:mm:ss[.fff](Z|±hh:mm)`, or `nil` for any other form.
    private static func timeOfDay(_ bytes: Span<UInt8>) -> Int64? {
        guard bytes.count >= 10, bytes[0] | 0x20 == UInt8(ascii: "t") || bytes[0] == UInt8(ascii: " "),
            bytes[3] == UInt8(ascii: ":"), bytes[6] == UInt8(ascii: ":"),
            let hour = bytes.extracting(1..<3).decimalNumber, let minute = bytes.extracting(4..<6).decimalNumber,
            let second = bytes.extracting(7..<9).decimalNumber,
            hour < 24, minute < 60, second < 61
        else { return nil }
        var index = 9
        var fraction = 0
        if bytes[index] == UInt8(ascii: ".") {
            index += 1
            var scale = 100
            guard index < bytes.count, bytes[index].isDigit else { return nil }
            while index < bytes.count, bytes[index].isDigit {
                fraction += Int(bytes[index] & 0xF) * scale
                scale /= 10
                index += 1
            }
        }
        guard let offset = zoneOffset(bytes.extracting(index...)) else { return nil }
        return Int64(((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction)
    }

    /// Returns the offset from UTC in minutes, positive to the east, or `nil` if `bytes` are malformed.
    private static func zoneOffset(_ bytes: Span<UInt8>) -> Int? {
        if bytes.count == 1, bytes[0] | 0x20 == UInt8(ascii: "z") { return 0 }
        guard bytes.count == 6, bytes[3] == UInt8(ascii: ":"), let hours = bytes.extracting(1..<3).decimalNumber,
            let minutes = bytes.extracting(4..<6).decimalNumber, hours < 24, minutes < 60
        else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }
}

extension Timestamp {
    /// Creates an instant from a decimal number of seconds since 1970, such as `1497595093.902000` or `1.497595093902E9`.
    ///
    /// The time is truncated to milliseconds. Returns `nil` for any other text, and outside the years 1970 to 9999.
    public init?(decimalSeconds text: Span<UInt8>) {
        guard let time = DecimalTime(text)?.timestamp else { return nil }
        self = time
    }

    /// Creates an instant from a decimal number of milliseconds since 1970, such as `1497595093902` or `1.497595093902E12`.
    ///
    /// Returns `nil` if the number has a fraction, and outside the years 1970 to 9999.
    public init?(decimalMilliseconds text: Span<UInt8>) {
        guard let milliseconds = Int64(integerValueOf: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension CivilDate {
    /// Parses a date such as `2018-12-10` at the start of `text`, or returns `nil` if there is none.
    init?(startOf text: Span<UInt8>) {
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = text.extracting(0..<4).decimalNumber, let month = text.extracting(5..<7).decimalNumber,
            let day = text.extracting(8..<10).decimalNumber
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}

extension TextWriter {
    fileprivate mutating func append(twoDigits number: Int) {
        append(UInt8(ascii: "0") + UInt8(number / 10))
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }
}

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
