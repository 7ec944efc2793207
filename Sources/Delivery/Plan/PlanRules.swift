import Telemetry

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
    public init(daily: Int? = 100, perType: Int? = 40, scope: Scope = .client) {
        self.daily = daily
        self.perType = perType
        self.scope = scope
    }
}

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
    static let sameIDInterval: Int64 = 15 * 60_000
    /// The maximum time, in milliseconds, by which a stored time can be in the future without being considered wrong.
    static let clockToleranceMilliseconds: Int64 = 86_400_000

    /// Returns whether a payload was sent so recently that another payload with the same id has to wait.
    static func isRecent(_ sent: Timestamp, at now: Timestamp) -> Bool {
        let age = now.milliseconds - sent.milliseconds
        return age < sameIDInterval && age > -clockToleranceMilliseconds
    }
}
