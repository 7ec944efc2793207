import Telemetry

/// How much may be sent.
///
/// Source: "Delivery", "Limits". Nil is unlimited.
public struct UploadLimits: Sendable, Equatable {
    /// Whose uploads are counted together.
    public enum Scope: String, Sendable, CaseIterable {
        /// Each client's own.
        case client
        /// Those of all clients.
        case job
    }

    /// The most uploads a day.
    public var daily: Int?
    /// The most uploads of one type a job.
    public var perType: Int?
    /// Whose uploads are counted together.
    public var scope: Scope

    /// The documented limits, unless others are given.
    public init(daily: Int? = 100, perType: Int? = 40, scope: Scope = .client) {
        self.daily = daily
        self.perType = perType
        self.scope = scope
    }
}

/// The rules by which a plan is made: limits, ages, days and sizes.
public struct PlanRules: Sendable {
    /// How much may be sent.
    public var limits: UploadLimits
    /// How old a record may be, in milliseconds; nil for any age. What has no time has no age.
    public var maximumAge: Int64?
    /// Which instants belong to one day.
    public var days: DayRule
    /// Where each system's records go, as ``Endpoint/address`` has it; a server that is not named cannot be waited for.
    public var endpoints: [SystemName: String] = [:]
    /// The largest request made of a list, in bytes of payload.
    public var maximumListBytes: Int
    /// The most events in a request that is a list, where the system's own limit is not lower.
    public var maximumListItems: Int

    /// Makes rules; what is not given is as documented.
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

    /// How long two payloads under one id stay apart: servers forget an id after about 10 minutes.
    static let sameIDInterval: Int64 = 15 * 60_000
    /// A clock that was set back makes earlier sends look like later ones; farther ahead than this it was wrong then.
    static let clockToleranceMilliseconds: Int64 = 86_400_000

    /// Whether something was sent so lately that another payload under its id has to wait.
    static func isRecent(_ sent: Timestamp, at now: Timestamp) -> Bool {
        let age = now.milliseconds - sent.milliseconds
        return age < sameIDInterval && age > -clockToleranceMilliseconds
    }
}
