/// A day of the proleptic Gregorian calendar.
///
/// ```swift
/// let leapDay = CivilDate(year: 2020, month: 2, day: 29)
/// let nextDay = leapDay.map { CivilDate(daysSinceEpoch: $0.daysSinceEpoch + 1) }  // 2020-03-01
/// ```
public struct CivilDate: Equatable, Sendable {
    /// The astronomical year, in which 0 is 1 BC.
    public let year: Int
    /// The month, from 1 to 12.
    public let month: Int
    /// The day of the month, starting at 1.
    public let day: Int

    /// Creates a date, or returns `nil` if the calendar does not contain it.
    public init?(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
        guard (1...12).contains(month), (1...31).contains(day), CivilDate(daysSinceEpoch: daysSinceEpoch) == self
        else { return nil }
    }

    /// Creates the date that is `daysSinceEpoch` days after 1970-01-01.
    ///
    /// The calculation uses eras of 400 years that begin on March 1, so that a leap day is the last day of its year.
    public init(daysSinceEpoch: Int) {
        let days = daysSinceEpoch + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01, which is negative for earlier dates.
    public var daysSinceEpoch: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
