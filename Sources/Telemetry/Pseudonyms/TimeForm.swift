import Bytes
import JSONText

/// A form of values that are times or elapsed times.
///
/// In pseudonymized records, such a value is kept, or it is rounded down to the hour or day. A rounded value keeps its
/// form, so that the payload remains valid.
///
/// Source: "Pseudonyms".
public enum TimeForm: Sendable {
    /// A string that contains a date, or a date and a time of day, such as `2020-05-22T16:10+02:00`.
    ///
    /// The minutes, the seconds, the fraction of a second and the offset from UTC can be missing.
    case text
    /// A number of milliseconds since 1970 or since another instant.
    case milliseconds
    /// A string that contains a number of milliseconds.
    case millisecondsText
    /// A string that contains a number of seconds since 1970, optionally with a fraction.
    case secondsText
    /// A number of ticks of a clock.
    ///
    /// The closure returns the number of ticks per second in the given payload.
    case ticks(perSecond: @Sendable (JSONDocument) -> Int64)
    /// A duration in milliseconds.
    ///
    /// A duration is not rounded. A value of 10¹² or more is actually a time in milliseconds since 1970.
    case durationOrTime

    /// The form of the values that are kept if times are not rounded.
    public var keptForm: KeptForm {
        switch self {
        case .text: .date
        case .milliseconds, .ticks, .durationOrTime: .anyNumber
        case .millisecondsText, .secondsText: .decimal
        }
    }

    /// Returns `value`, rounded down to `unit`, or `nil` if `value` is not a time.
    ///
    /// `value` must have the form ``keptForm``. An empty string is returned unchanged.
    func rounded(_ value: Span<UInt8>, to unit: TimeUnit, in document: JSONDocument) -> [UInt8]? {
        guard !value.isEmpty else { return [] }
        switch self {
        case .text: return Self.rounded(dateAndTime: value, to: unit)
        case .milliseconds, .millisecondsText: return Self.rounded(value, ticksPerSecond: 1000, to: unit)
        case .secondsText: return Self.rounded(value, ticksPerSecond: 1, to: unit)
        case .ticks(let rate): return Self.rounded(value, ticksPerSecond: rate(document), to: unit)
        case .durationOrTime:
            if let number = DecimalTime(value), number.seconds < Self.earliestTime { return value.copied() }
            return Self.rounded(value, ticksPerSecond: 1000, to: unit)
        }
    }

    /// The smallest number of milliseconds that is a time instead of a duration.
    private static let earliestTime: Int64 = 1_000_000_000_000
    /// The exclusive end of the year 9999 in seconds since 1970.
    private static let end: Int64 = 253_402_300_800

    /// Rounds down a decimal number of ticks, and replaces the digits of its fraction by zeros.
    ///
    /// Numbers beyond the year 9999 are clamped, because they can be exact times in a smaller unit. Returns `nil` if
    /// `number` is not a number.
    private static func rounded(_ number: Span<UInt8>, ticksPerSecond rate: Int64, to unit: TimeUnit) -> [UInt8]? {
        guard let ticks = DecimalTime(number)?.seconds else { return nil }
        let (limit, isUnlimited) = end.multipliedReportingOverflow(by: rate)
        let clamped = isUnlimited ? ticks : min(max(ticks, -limit), limit)
        let integer = Array("\(clamped.roundedDown(toMultipleOf: unit.seconds * rate))".utf8)
        guard let point = number.indices.first(where: { number[$0] == UInt8(ascii: ".") }),
            number.extracting((point + 1)...).allSatisfy(\.isDigit)
        else { return integer }
        return integer + [UInt8(ascii: ".")] + [UInt8](repeating: UInt8(ascii: "0"), count: number.count - point - 1)
    }
}

// MARK: - Dates and times

extension TimeForm {
    /// Rounds a date, or a date and a time of day, down to the hour or day in UTC.
    ///
    /// The result has the precision and the offset of `text`. If `text` has no minutes, the minutes of the offset are
    /// ignored. A date without a time of day is returned unchanged. Returns `nil` if `text` is invalid, or if the
    /// result is outside the years 0000 to 9999.
    private static func rounded(dateAndTime text: Span<UInt8>, to unit: TimeUnit) -> [UInt8]? {
        guard let date = CivilDate(startOf: text), let (end, minutes) = timeOfDay(in: text),
            let zone = zoneOffset(text.extracting(end...))
        else { return nil }
        var bytes = text.copied()
        guard end > 10 else { return bytes }
        let offset = end > 13 ? zone : zone.roundedDown(toMultipleOf: 60)
        let instant = Int64(date.daysSinceEpoch) * minutesPerDay + minutes - offset
        let local = instant.roundedDown(toMultipleOf: unit.minutes) + offset
        let midnight = local.roundedDown(toMultipleOf: minutesPerDay)
        let rounded = CivilDate(daysSinceEpoch: Int(midnight / minutesPerDay))
        guard (0...9999).contains(rounded.year) else { return nil }
        let minute = Int(local - midnight)
        var parts = [
            (0, rounded.year / 100), (2, rounded.year % 100), (5, rounded.month), (8, rounded.day), (11, minute / 60),
        ]
        if end > 13 { parts.append((14, minute % 60)) }
        for (index, number) in parts {
            bytes[index] = UInt8(ascii: "0") + UInt8(number / 10)
            bytes[index + 1] = UInt8(ascii: "0") + UInt8(number % 10)
        }
        for index in 10..<end where index > 15 && bytes[index].isDigit { bytes[index] = UInt8(ascii: "0") }
        return bytes
    }

    /// Returns whether a string is a date, or a date and a time of day.
    static func isTime(_ text: Span<UInt8>) -> Bool { rounded(dateAndTime: text, to: .day) != nil }

    private static let minutesPerDay = TimeUnit.day.minutes

    /// Returns the end index of the time of day in `text`, and the minutes since midnight.
    ///
    /// Returns `nil` if the time of day is invalid. The end index is 10 if `text` contains only a date.
    private static func timeOfDay(in text: Span<UInt8>) -> (end: Int, minutes: Int64)? {
        guard text.count > 10, text[10] == UInt8(ascii: "T") || isNumber(at: 11, of: text) else { return (10, 0) }
        guard let hour = number(at: 11, of: text, below: 24) else { return nil }
        guard text.count > 13, text[13] == UInt8(ascii: ":") else { return (13, Int64(hour * 60)) }
        guard let minute = number(at: 14, of: text, below: 60) else { return nil }
        let minutes = Int64(hour * 60 + minute)
        guard text.count > 16, text[16] == UInt8(ascii: ":") else { return (16, minutes) }
        guard number(at: 17, of: text, below: 60) != nil else { return nil }
        guard text.count > 19, text[19] == UInt8(ascii: ".") else { return (19, minutes) }
        var end = 20
        while end < text.count, text[end].isDigit { end += 1 }
        return end > 20 ? (end, minutes) : nil
    }

    /// Returns the offset from UTC in minutes of `Z`, `+hh:mm` or `+hhmm`, or 0 if `zone` is empty.
    ///
    /// A space or the letter `Z` before an offset has no meaning. Returns `nil` if `zone` is invalid.
    private static func zoneOffset(_ zone: Span<UInt8>) -> Int64? {
        var start = 0
        if !zone.isEmpty, zone[0] == UInt8(ascii: "Z") || zone[0] == UInt8(ascii: " ") { start = 1 }
        guard start < zone.count else { return zone.count == 0 || zone[0] == UInt8(ascii: "Z") ? 0 : nil }
        let colon = zone.count == start + 6 && zone[start + 3] == UInt8(ascii: ":") ? 1 : 0
        guard zone.count == start + 5 + colon, let hours = number(at: start + 1, of: zone, below: 24),
            let minutes = number(at: start + 3 + colon, of: zone, below: 60)
        else { return nil }
        let offset = Int64(hours * 60 + minutes)
        // Offsets from UTC are at most 14 hours and multiples of 15 minutes. Another number can be part of an id.
        guard offset <= 14 * 60, minutes % 15 == 0 else { return nil }
        switch zone[start] {
        case UInt8(ascii: "+"): return offset
        case UInt8(ascii: "-"): return -offset
        default: return nil
        }
    }

    private static func isNumber(at index: Int, of text: Span<UInt8>) -> Bool {
        text[index - 1] == UInt8(ascii: " ") && number(at: index, of: text, below: 100) != nil
    }

    /// Returns the two-digit number at `index`, or `nil` if there is none or it is not less than `limit`.
    private static func number(at index: Int, of text: Span<UInt8>, below limit: Int) -> Int? {
        guard index + 2 <= text.count, let number = text.extracting(index..<index + 2).decimalNumber, number < limit
        else { return nil }
        return number
    }
}

// MARK: - Units

/// A unit of time to which the times in pseudonymized records are rounded down.
///
/// Rounded times prevent readers from finding the records of a client in other data by their exact times.
///
/// Source: "Pseudonyms".
public enum TimeUnit: String, CaseIterable, Comparable, Sendable {
    /// Hours in UTC.
    case hour
    /// Days in UTC.
    case day

    /// Returns whether `left` is shorter than `right`.
    public static func < (left: TimeUnit, right: TimeUnit) -> Bool { left.minutes < right.minutes }

    /// The number of minutes in the unit.
    var minutes: Int64 {
        switch self {
        case .hour: 60
        case .day: 24 * 60
        }
    }

    /// The number of seconds in the unit.
    var seconds: Int64 { minutes * 60 }
}

extension Int64 {
    /// Returns the largest multiple of `unit` that is not greater than this number.
    fileprivate func roundedDown(toMultipleOf unit: Int64) -> Int64 {
        let rest = self % unit
        return rest < 0 ? self - rest - unit : self - rest
    }
}

extension Timestamp {
    /// Returns the beginning of the hour or day that contains this instant, in UTC.
    ///
    /// The result is never `nil`, because the earliest possible instant is the beginning of a day.
    func roundedDown(to unit: TimeUnit) -> Timestamp? {
        Timestamp(inAnyYear: milliseconds.roundedDown(toMultipleOf: unit.seconds * 1000))
    }
}
