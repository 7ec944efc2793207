import Bytes
import Telemetry

/// The time format of pings.
///
/// A time consists of a date, an optional time of day and an offset from UTC. The time of day may have hours, minutes,
/// seconds and a fraction of up to nine digits.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.1, cases G43 and G44.
enum PingTime {
    /// Parses a time, or returns `nil` if it is invalid or if RFC 3339 cannot express its year.
    static func timestamp(from text: Span<UInt8>) -> Timestamp? {
        let dateLength = 10
        let zone = text.count - (!text.isEmpty && text[text.count - 1] == UInt8(ascii: "Z") ? 1 : 6)
        guard zone >= dateLength, "Z+-".utf8.contains(text[zone]),
            let missing = missingPart(of: text.extracting(dateLength..<zone))
        else { return nil }
        let whole = text.extracting(..<zone).copied() + missing.utf8 + text.extracting(zone...).copied()
        return Timestamp(rfc3339: whole.span)
    }

    /// Returns whether a time has a precision of at least a minute.
    static func hasMinutes(_ text: Span<UInt8>) -> Bool { text.count > 16 && text[13] == UInt8(ascii: ":") }

    /// Returns the string to append to `time` so that the result is an RFC 3339 time of day.
    ///
    /// Returns `nil` if the time is invalid or is a leap second.
    private static func missingPart(of time: Span<UInt8>) -> String? {
        guard !time.isEmpty else { return "T00:00:00" }
        guard time[0] == UInt8(ascii: "T"), time.count < 9 || time[7] != UInt8(ascii: "6") else { return nil }
        switch time.count {
        case 3: return ":00:00"
        case 6: return ":00"
        case 9, 11...19: return ""
        default: return nil
        }
    }
}
