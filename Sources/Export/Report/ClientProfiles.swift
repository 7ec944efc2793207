import Bundle
import Bytes

/// The latest app, model and locale of a client, its active days, its metrics, and optionally all of its values.
///
/// To save memory, each value is stored as the index of its entry in the counts of a ``ReportTally``.
struct ClientProfile: Sendable {
    /// The index of the latest value of a property, and the time of this value.
    struct Latest: Sendable {
        private var index: UInt32?
        private var time = Int64.min

        var value: Int? { index.map { Int($0) } }

        /// Replaces the value, unless `value` is `nil` or `time` is earlier than the time of the stored value.
        mutating func update(_ value: Int?, at time: Int64) {
            guard let value, time >= self.time else { return }
            (index, self.time) = (UInt32(value), time)
        }

        fileprivate mutating func update(_ later: Latest, _ indices: [Int?]) {
            update(later.value.flatMap { indices[$0] }, at: later.time)
        }
    }

    let key: ClientKey
    /// The index of the system, or `nil` if it is unknown.
    let system: Int?
    /// Whether the profile belongs to a client, and not to the records of a system that have no client.
    let isClient: Bool
    var app = Latest()
    var model = Latest()
    var locale = Latest()
    var days = ActiveDays()
    var metrics = SmallNumberSet()
    /// All values of the client's records, or no values if they are not collected.
    var values = Values()

    /// The indices of all values in the records of a client.
    struct Values: Sendable {
        var apps = SmallNumberSet()
        var models = SmallNumberSet()
        var locales = SmallNumberSet()
        var events = SmallNumberSet()
        var searches = SmallNumberSet()

        fileprivate mutating func formUnion(_ later: Values, _ indices: TallyIndices) {
            apps.formUnion(later.apps, indices.apps)
            models.formUnion(later.models, indices.models)
            locales.formUnion(later.locales, indices.locales)
            events.formUnion(later.events, indices.events)
            searches.formUnion(later.searches, indices.searches)
        }
    }

    fileprivate init(key: ClientKey, system: Int?, isClient: Bool) {
        self.key = key
        self.system = system
        self.isClient = isClient
    }

    fileprivate mutating func add(_ later: ClientProfile, _ indices: TallyIndices) {
        app.update(later.app, indices.apps)
        model.update(later.model, indices.models)
        locale.update(later.locale, indices.locales)
        days.formUnion(later.days)
        metrics.formUnion(later.metrics, indices.metrics)
        values.formUnion(later.values, indices)
    }
}

/// Tables that map the indices of values in a later tally to their indices in the tally to which it is added.
struct TallyIndices {
    let systems, apps, models, locales, metrics, events, searches: [Int?]
}

/// The profiles of all clients, in the order of their first records.
struct ClientProfiles: Sendable {
    private var profiles: [ClientProfile] = []
    private var indices: [ClientKey: Int] = [:]

    subscript(client: ClientKey) -> ClientProfile? { indices[client].map { profiles[$0] } }

    /// The profiles of clients.
    ///
    /// Profiles for records without a client are excluded.
    var clients: some Sequence<ClientProfile> { profiles.lazy.filter(\.isClient) }

    /// Calls `body` with the profile of `client`, and creates the profile first if it does not exist.
    mutating func update(
        _ client: ClientKey, system: Int?, isClient: Bool, _ body: (inout ClientProfile) -> Void
    ) {
        let index = indices[client] ?? profiles.count
        if index == profiles.count {
            indices[client] = index
            profiles.append(ClientProfile(key: client, system: system, isClient: isClient))
        }
        body(&profiles[index])
    }

    /// Adds the profiles of a later part of the input.
    ///
    /// `indices` maps the indices of values in the later tally to their indices in the tally that owns these profiles.
    mutating func add(_ later: ClientProfiles, _ indices: TallyIndices) {
        for profile in later.profiles {
            update(profile.key, system: profile.system.flatMap { indices.systems[$0] }, isClient: profile.isClient) {
                $0.add(profile, indices)
            }
        }
    }

    /// Returns the number of clients for each value.
    ///
    /// `values` returns the distinct values of a client.
    func clientCounts(_ values: (ClientProfile) -> [Int]) -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for client in clients { for value in values(client) { counts[value, default: 0] += 1 } }
        return counts
    }
}

/// The days on which a client was active.
///
/// The number of stored weeks is limited. If a client has too many active weeks, all of its days are discarded.
struct ActiveDays: Sendable {
    /// The active weeks in ascending order.
    ///
    /// The lowest seven bits of an element are the days of the week, from Monday. The other bits are the number of the
    /// week.
    private var weeks: [Int32] = []
    /// Whether the days were discarded.
    private(set) var exceedsLimit = false

    /// The maximum number of active weeks.
    static let maxWeekCount = 260

    mutating func insert(_ day: Int) {
        let week = CalendarWeek(containing: day)
        insert(week: Int32(week.number << 7 | 1 << (day - week.firstDay)))
    }

    private mutating func insert(week element: Int32) {
        guard !exceedsLimit else { return }
        let index = weeks.indices.partitioningIndex { weeks[$0] >> 7 >= element >> 7 }
        if index < weeks.count, weeks[index] >> 7 == element >> 7 {
            weeks[index] |= element
        } else if weeks.count < Self.maxWeekCount {
            weeks.insert(element, at: index)
        } else {
            discard()
        }
    }

    private mutating func discard() {
        weeks = []
        exceedsLimit = true
    }

    mutating func formUnion(_ other: ActiveDays) {
        if other.exceedsLimit { discard() }
        for week in other.weeks { insert(week: week) }
    }

    /// The active weeks in ascending order.
    var activeWeeks: [CalendarWeek] { weeks.map { CalendarWeek(number: Int($0 >> 7)) } }

    /// The active days, counted from 1970-01-01, in ascending order.
    var days: [Int] {
        weeks.flatMap { week in
            (0..<7).filter { week & 1 << $0 != 0 }.map { CalendarWeek(number: Int(week >> 7)).firstDay + $0 }
        }
    }
}

/// A week, which starts on a Monday.
struct CalendarWeek: Hashable, Sendable {
    /// The number of the week, counted from the week of 1970-01-01.
    let number: Int

    init(number: Int) { self.number = number }

    /// Creates the week that contains `day`, a number of days since 1970-01-01.
    init(containing day: Int) {
        // 1970-01-01 was a Thursday.
        let daysSinceMonday = ((day + 3) % 7 + 7) % 7
        number = (day + 3 - daysSinceMonday) / 7
    }

    /// The Monday of the week, counted from 1970-01-01.
    var firstDay: Int { number * 7 - 3 }
}

/// A set of small numbers, each of which uses one bit.
struct SmallNumberSet: Sendable {
    private var words: [UInt64] = []

    mutating func insert(_ number: Int) {
        while words.count <= number / 64 { words.append(0) }
        words[number / 64] |= 1 << UInt64(number % 64)
    }

    /// Inserts the number in `indices` for each element of `other`, and omits elements for which that number is `nil`.
    mutating func formUnion(_ other: SmallNumberSet, _ indices: [Int?]) {
        for element in other.elements { if let index = indices[element] { insert(index) } }
    }

    /// The numbers in ascending order.
    var elements: [Int] {
        words.indices.flatMap { index in (0..<64).filter { words[index] & 1 << UInt64($0) != 0 }.map { index * 64 + $0 }
        }
    }
}
