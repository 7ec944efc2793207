import Bytes

/// A range of days that a chart shows as one bar.
struct DaySpan: Sendable, Equatable {
    /// The days, counted from 1970-01-01.
    let days: Range<Int>
    var unit = ChartUnit.day

    /// The name of the span, such as `2020-03-02`, `2020-03-02 to 2020-03-08` or `Mar 2020`.
    var name: String {
        start == end ? start : "\(start) to \(end)"
    }

    /// The name of the span as HTML, without line breaks in dates.
    var html: HTML {
        start == end
            ? "<span class=\"day\">\(start)</span>"
            : "<span class=\"day\">\(start)</span> to <span class=\"day\">\(end)</span>"
    }

    /// The day, the month or the year in which the span ends.
    var end: String { DaySpan(days: days.upperBound - 1..<days.upperBound, unit: unit).start }

    /// The day, the month or the year in which the span starts.
    var start: String {
        let date = CivilDate(daysSinceEpoch: days.lowerBound)
        let year = date.year.zeroPadded(to: 4)
        return switch unit {
        case .day, .week: "\(year)-\(date.month.zeroPadded(to: 2))-\(date.day.zeroPadded(to: 2))"
        case .month: "\(Self.monthNames[date.month - 1]) \(year)"
        case .year, .years: year
        }
    }

    /// The approximate length of the span, such as `20 days`, `58 weeks` or `2 years`.
    var length: String {
        switch days.count {
        case ..<100: "\(days.count) days"
        case ..<730: "\(days.count / 7) weeks"
        default: "\(days.count / 365) years"
        }
    }

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension [DaySpan] {
    /// The pauses that are omitted between consecutive spans.
    var pauses: [DaySpan] { indices.compactMap(pause) }

    /// Returns the pause that is omitted before the span at `index`, or `nil` if there is none.
    func pause(before index: Int) -> DaySpan? {
        guard index > 0, self[index - 1].days.upperBound < self[index].days.lowerBound else { return nil }
        return DaySpan(days: self[index - 1].days.upperBound..<self[index].days.lowerBound, unit: self[index].unit)
    }
}

/// The time span of a bar of a chart.
enum ChartUnit: String, Sendable {
    case day, week, month, year
    case years = "span of years"

    /// Returns the number of the unit that contains `day`, counted from an arbitrary unit.
    ///
    /// Days are counted from 1970-01-01. The number of `years` is that of a year, as for `year`.
    fileprivate func number(containing day: Int) -> Int {
        switch self {
        case .day: return day
        case .week: return (CalendarWeek(containing: day).firstDay + 3) / 7
        case .month, .year, .years:
            let date = CivilDate(daysSinceEpoch: day)
            return self == .month ? date.year * 12 + date.month - 1 : date.year
        }
    }

    /// Returns the first day of the unit with a number.
    fileprivate func firstDay(of number: Int) -> Int {
        switch self {
        case .day: number
        case .week: 7 * number - 3
        case .month: CivilDate(year: number / 12, month: number % 12 + 1, day: 1)?.daysSinceEpoch ?? 0
        case .year, .years: CivilDate(year: number, month: 1, day: 1)?.daysSinceEpoch ?? 0
        }
    }
}

/// The period that a chart shows, divided into a limited number of spans.
///
/// Phone clocks are sometimes wrong by decades. Therefore, a few outliers that are more than a year away from the other
/// days are excluded from the chart and reported as text. The longest pauses between the other days are omitted, so that
/// a single old record does not stretch the chart.
struct ReportCalendar: Sendable {

    let unit: ChartUnit
    /// The spans in order.
    let spans: [DaySpan]
    /// Whether earlier spans are omitted, because there are more than ``maxSpans``.
    let omitsEarlierSpans: Bool

    /// The maximum number of bars in a readable chart.
    static let maxSpans = 120
    /// The minimum number of spans in a pause that is omitted.
    private static let minPause = 14
    /// The maximum number of omitted pauses if the unit is not specified.
    private static let maxPauses = 5
    /// The maximum number of omitted pauses if the unit is specified.
    private static let maxPausesOfUnit = 10

    /// Creates a calendar from the number of items on each day, or returns `nil` if there are too few items.
    ///
    /// The keys of `counts` are days since 1970-01-01. By default, the unit is the smallest unit that does not require
    /// too many spans, and only the longest pauses are omitted. If `givenUnit` is `day` or `week`, all long pauses are
    /// omitted, and if there are too many spans or pauses, earlier spans are omitted.
    ///
    /// Only days with at least `minimumCount` items determine the spans, so that the spans do not reveal the day of a
    /// single item. If these days contain less than half of all items, and no unit is specified, the unit is the week,
    /// and weeks with at least `minimumCount` items determine the spans.
    init?(_ counts: [Int: Int], unit givenUnit: ChartUnit? = nil, minimumCount: Int = 1) {
        func total(_ counts: [Int: Int]) -> Int { counts.values.reduce(0, +) }
        var givenUnit = givenUnit
        var largeCounts = counts.filter { $0.value >= minimumCount }
        if givenUnit == nil, 2 * total(largeCounts) < total(counts) {
            givenUnit = .week
            largeCounts = Dictionary(
                counts.map { (CalendarWeek(containing: $0.key).firstDay, $0.value) }, uniquingKeysWith: +
            ).filter { $0.value >= minimumCount }
        }
        let days = Self.daysWithoutOutliers(largeCounts)
        guard let first = days.first, let last = days.last else { return nil }
        if let givenUnit {
            let all = Self.periods(of: days, givenUnit, maxPauses: .max)
            let periods = all.suffix(Self.maxPausesOfUnit + 1)
            unit = givenUnit
            spans = periods.joined().suffix(Self.maxSpans).map { Self.span(of: $0..<$0 + 1, givenUnit) }
            omitsEarlierSpans = spans.count < all.reduce(0) { $0 + $1.count }
            return
        }
        omitsEarlierSpans = false
        for unit in [ChartUnit.day, .week, .month] {
            let periods = Self.periods(of: days, unit, maxPauses: Self.maxPauses)
            guard periods.reduce(0, { $0 + $1.count }) <= Self.maxSpans else { continue }
            self.unit = unit
            spans = periods.joined().map { Self.span(of: $0..<$0 + 1, unit) }
            return
        }
        let years = ChartUnit.year.number(containing: first)...ChartUnit.year.number(containing: last)
        let step = (years.count + Self.maxSpans - 1) / Self.maxSpans
        let unit: ChartUnit = step == 1 ? .year : .years
        self.unit = unit
        spans = stride(from: years.lowerBound, through: years.upperBound, by: step).map {
            Self.span(of: $0..<$0 + step, unit)
        }
    }

    /// Returns the index of the span that contains a day, or `nil` if the day is not shown.
    func index(of day: Int) -> Int? {
        let index = spans.indices.partitioningIndex { spans[$0].days.upperBound > day }
        return index < spans.count && spans[index].days.contains(day) ? index : nil
    }

    /// Returns the periods between omitted pauses, which are the longest ones, as ranges of the numbers of units.
    private static func periods(of days: [Int], _ unit: ChartUnit, maxPauses: Int) -> [Range<Int>] {
        let numbers = days.map(unit.number)
        let pauses = zip(numbers, numbers.dropFirst()).filter { $1 - $0 > minPause }
        let longest = pauses.sorted { ($1.1 - $1.0, $0.0) < ($0.1 - $0.0, $1.0) }.prefix(maxPauses).sorted {
            $0.0 < $1.0
        }
        guard let first = numbers.first, let last = numbers.last else { return [] }
        return zip([first] + longest.map(\.1), longest.map(\.0) + [last]).map { $0..<$1 + 1 }
    }

    private static func span(of numbers: Range<Int>, _ unit: ChartUnit) -> DaySpan {
        DaySpan(days: unit.firstDay(of: numbers.lowerBound)..<unit.firstDay(of: numbers.upperBound), unit: unit)
    }

    // MARK: Outliers

    /// Returns the days with items in order, without outliers at the start and the end.
    static func daysWithoutOutliers(_ counts: [Int: Int]) -> [Int] {
        var runs = runs(counts)
        let total = runs.reduce(0) { $0 + $1.count }
        var removableCount = total / outlierDivisor
        while runs.count > 1, let first = runs.first, let last = runs.last,
            min(first.count, last.count) <= min(removableCount, max(2, total / outlierRunDivisor))
        {
            removableCount -= min(first.count, last.count)
            if first.count <= last.count { runs.removeFirst() } else { runs.removeLast() }
        }
        return runs.flatMap(\.days)
    }

    /// The minimum distance, in days, between outliers and the other days.
    private static let outlierDistance = 366
    /// The divisor that limits the excluded items to a tenth of all items.
    private static let outlierDivisor = 10
    /// The divisor that limits the excluded items of one run of days to a hundredth of all items, or to two if that is more.
    private static let outlierRunDivisor = 100

    /// Returns runs of days with less than a year between consecutive days, with the total count of each run.
    private static func runs(_ counts: [Int: Int]) -> [(count: Int, days: [Int])] {
        var runs: [(count: Int, days: [Int])] = []
        for (day, count) in counts.sorted(by: { $0.key < $1.key }) {
            if let last = runs.last?.days.last, day - last <= outlierDistance {
                runs[runs.count - 1].count += count
                runs[runs.count - 1].days.append(day)
            } else {
                runs.append((count, [day]))
            }
        }
        return runs
    }
}

/// A week, which starts on a Monday.
struct CalendarWeek: Hashable, Sendable {
    /// The Monday of the week, counted from 1970-01-01.
    let firstDay: Int

    /// Creates the week that contains `day`, a number of days since 1970-01-01.
    init(containing day: Int) {
        // 1970-01-01 was a Thursday.
        firstDay = day - ((day + 3) % 7 + 7) % 7
    }

    /// Returns the SQL expression for ``firstDay`` of the week that contains the days in `column`.
    static func firstDay(containing column: String) -> String { "\(column) - ((\(column) + 3) % 7 + 7) % 7" }
}
