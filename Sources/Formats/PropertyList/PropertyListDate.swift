import Bytes
import CivilTime

/// Functions for the dates of property lists, which are stored as seconds since 2001-01-01T00:00:00Z.
///
/// Source: <doc:KeyedArchives>, A.4 and C.1.
public enum PropertyListDate {
    /// The reference date of property lists, 2001-01-01T00:00:00Z, in seconds since 1970-01-01T00:00:00Z.
    public static let epoch = 978_307_200.0

    /// Returns a date as a string in the format of RFC 3339, in UTC, for example `2020-03-02T13:02:11.500Z`.
    ///
    /// The time is rounded down to milliseconds, which are omitted if they are zero. A year outside of the range 0 to
    /// 9999 has a sign and six digits, as in ISO 8601. Returns `nil` for a date that is not a number or is about
    /// 100,000 years or more from 1970.
    public static func text(secondsSince2001 seconds: Double) -> String? {
        let milliseconds = ((seconds + epoch) * 1000).rounded(.down)
        guard abs(milliseconds) < 3.2e15 else { return nil }
        let total = Int(milliseconds)
        let days = total >= 0 ? total / 86_400_000 : -((86_399_999 - total) / 86_400_000)
        let time = total - days * 86_400_000
        let date = CivilDate(daysSinceEpoch: days)
        let sign = date.year < 0 ? "-" : "+"
        let year =
            (0...9999).contains(date.year)
            ? date.year.zeroPadded(to: 4) : sign + abs(date.year).zeroPadded(to: 6)
        let (month, day) = (date.month.zeroPadded(to: 2), date.day.zeroPadded(to: 2))
        let hour = (time / 3_600_000).zeroPadded(to: 2)
        let minute = (time / 60_000 % 60).zeroPadded(to: 2)
        let second = (time / 1000 % 60).zeroPadded(to: 2)
        let fraction = time % 1000 == 0 ? "" : "." + (time % 1000).zeroPadded(to: 3)
        return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)\(fraction)Z"
    }
}
