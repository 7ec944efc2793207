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
    func roundedDown(toMultipleOf unit: Int64) -> Int64 {
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
