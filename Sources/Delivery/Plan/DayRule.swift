import Telemetry

/// Days as limits count them: UTC days, or those of a timezone with its changes of the clock.
public struct DayRule: Sendable, Equatable {
    /// How far a clock is ahead of UTC, from an instant on. Both in seconds.
    public struct ClockChange: Sendable, Equatable {
        /// The instant, counted from 1970.
        public let instant: Int
        /// The offset: more than 0 to the east.
        public let offset: Int
    }

    /// The changes in their order. Before the first one, the clock shows UTC.
    let changes: [ClockChange]

    /// UTC days.
    public static let utc = DayRule(changes: [])

    /// The day of an instant, counted from 1970-01-01.
    public func day(of instant: Timestamp) -> Int {
        let seconds = Int(instant.milliseconds / 1000)
        let local = seconds + (changes.last { $0.instant <= seconds }?.offset ?? 0)
        return local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
    }
}
