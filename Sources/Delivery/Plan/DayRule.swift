import Telemetry

/// A rule that determines the calendar day of a timestamp, in UTC or another time zone.
public struct DayRule: Sendable, Equatable {
    /// A change of the UTC offset, such as the start of daylight saving time.
    public struct ClockChange: Sendable, Equatable {
        /// The time of the change, in seconds since 1970.
        public let instant: Int
        /// The offset from UTC after the change, in seconds east of Greenwich.
        public let utcOffset: Int
    }

    /// The changes, sorted by time, with an offset of 0 before the first change.
    let clockChanges: [ClockChange]

    /// The rule for UTC days.
    public static let utc = DayRule(clockChanges: [])

    /// Returns the day of an instant, as a number of days since 1970-01-01.
    public func day(of instant: Timestamp) -> Int { Self.divideByDay(localSeconds(of: instant)).day }

    /// Returns the time of day of an instant, in seconds since midnight.
    public func secondOfDay(of instant: Timestamp) -> Int { Self.divideByDay(localSeconds(of: instant)).second }

    private func localSeconds(of instant: Timestamp) -> Int {
        let seconds = Int(instant.milliseconds / 1000)
        return seconds + (clockChanges.last { $0.instant <= seconds }?.utcOffset ?? 0)
    }

    private static func divideByDay(_ local: Int) -> (day: Int, second: Int) {
        let day = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        return (day, local - day * 86_400)
    }
}
