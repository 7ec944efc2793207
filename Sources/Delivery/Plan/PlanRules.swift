import Telemetry

/// The rules that a plan follows: limits, ages, days and sizes.
public struct PlanRules: Sendable {
    /// The limits on the number of uploads.
    public var limits: UploadLimits
    /// The maximum age of a record whose time is known, in milliseconds, or `nil` for no limit.
    public var maximumAge: Int64?
    /// The rule that assigns instants to days.
    public var days: DayRule
    /// The server that receives the uploads of each type, which determines the pauses that apply to the type.
    public var servers = ServerTable()
    /// The maximum size of a list request, in bytes of payload.
    public var maximumListBytes: Int
    /// The maximum number of events in a list request, unless the limit of the system is lower.
    public var maximumListItems: Int

    /// Creates rules with the documented default values.
    public init(
        limits: UploadLimits = UploadLimits(), maximumAge: Int64? = nil, days: DayRule = .utc,
        maximumListBytes: Int = 5_000_000, maximumListItems: Int = .max
    ) {
        self.limits = limits
        self.maximumAge = maximumAge
        self.days = days
        self.maximumListBytes = maximumListBytes
        self.maximumListItems = maximumListItems
    }

    /// The minimum time between payloads with the same id, in milliseconds, as servers forget ids after 10 minutes.
    private static let sameIDInterval: Int64 = 15 * 60_000
    /// The maximum time, in milliseconds, by which a stored time can be in the future without being considered wrong.
    static let clockToleranceMilliseconds: Int64 = 86_400_000

    /// Returns whether a payload was sent so recently that another payload with the same id has to wait.
    static func isRecent(_ sent: Timestamp, at now: Timestamp) -> Bool {
        let age = now.milliseconds - sent.milliseconds
        return age < sameIDInterval && age > -clockToleranceMilliseconds
    }
}

/// The limits on the number of uploads, where `nil` means no limit.
///
/// Source: "Delivery", "Limits".
public struct UploadLimits: Sendable, Equatable {
    /// The set of uploads to which a limit applies.
    public enum Scope: String, Sendable, CaseIterable {
        /// The limits apply to the uploads of each client separately.
        case client
        /// The limits apply to the uploads of all clients together.
        case job
    }

    /// The maximum number of uploads per day.
    public var daily: Int?
    /// The maximum number of uploads of one type per job.
    public var perType: Int?
    /// The set of uploads to which the limits apply.
    public var scope: Scope

    /// Creates limits with the documented default values.
    public init(
        daily: Int? = DocumentedLimits.dailyUploads, perType: Int? = DocumentedLimits.uploadsOfTypeInJob,
        scope: Scope = .client
    ) {
        self.daily = daily
        self.perType = perType
        self.scope = scope
    }
}

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

/// A pause requested by a server, which also applies to later jobs.
///
/// Source: RFC 9110, section 10.2.3 (`Retry-After`).
public struct Pause: Sendable, Hashable {
    /// The address of the server, in the form of `Endpoint.address`.
    public let endpoint: String
    /// The time at which the server requested the pause.
    public let requestTime: Timestamp
    /// The end of the pause, with a precision of seconds.
    public let endTime: Timestamp

    /// The maximum length of a pause, in seconds, so that a faulty server does not stop all uploads for years.
    static let maximumSeconds = 7 * 86_400

    /// Returns whether the pause is in effect at `now`.
    public func isActive(at now: Timestamp) -> Bool {
        // A pause that was requested more than a day in the future is ignored, because the clock was wrong.
        now < endTime && requestTime.milliseconds - now.milliseconds <= PlanRules.clockToleranceMilliseconds
    }
}

extension Pause {
    /// Creates a pause that lasts `seconds` from `now`, but at most ``maximumSeconds``.
    init(endpoint: String, seconds: Int, now: Timestamp) {
        let end = now.milliseconds + Int64(min(max(0, seconds), Self.maximumSeconds)) * 1000
        self.init(endpoint: endpoint, requestTime: now, endTime: Timestamp(clamping: (end + 999) / 1000 * 1000))
    }
}
