import Bytes

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
