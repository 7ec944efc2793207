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

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// The time span of a bar of a chart.
enum ChartUnit: String, Sendable {
    case day, week, month, year
    case years = "span of years"
}

/// The period that a chart shows, divided into a limited number of spans.
///
/// Phone clocks are sometimes wrong by decades. Therefore, a few outliers that are more than a year away from the other
/// days are excluded from the chart and reported as text. A pause of more than a year between the other days is
/// omitted, unless there are too many pauses or each bar shows at least a year.
struct ReportCalendar: Sendable {

    let unit: ChartUnit
    /// The spans in order.
    let spans: [DaySpan]
    /// Whether earlier spans are omitted, because there are more than ``maxSpansOfUnit``.
    let omitsEarlierSpans: Bool

    /// The maximum number of bars in a readable chart.
    static let maxSpans = 120
    /// The maximum number of bars in a chart whose unit is specified.
    static let maxSpansOfUnit = 400
    /// The minimum number of days in a pause that is omitted, and between outliers and the other days.
    private static let minPause = 366
    /// The maximum number of periods between omitted pauses.
    ///
    /// If there are more periods, no pause is omitted.
    private static let maxPeriods = 5

    /// Creates a calendar from the number of items on each day, or returns `nil` if there are too few items.
    ///
    /// The keys of `counts` are days since 1970-01-01. By default, the unit is the smallest unit that does not require
    /// too many spans. If `givenUnit` is `day` or `week` and there are too many spans, earlier spans are omitted.
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
        var periods = Self.periodsWithoutOutliers(largeCounts)
        guard let first = periods.first, let last = periods.last else { return nil }
        let whole = first.lowerBound..<last.upperBound
        if periods.count > Self.maxPeriods { periods = [whole] }
        let dayCount = periods.reduce(0) { $0 + $1.count }
        for unit in [ChartUnit.day, .week] where givenUnit == nil || givenUnit == unit {
            let length = unit == .day ? 1 : 7
            guard givenUnit != nil || dayCount / length < Self.maxSpans else { continue }
            self.unit = unit
            let all = periods.flatMap { period in
                let start = length == 1 ? period.lowerBound : CalendarWeek(containing: period.lowerBound).firstDay
                return stride(from: start, to: period.upperBound, by: length).map {
                    DaySpan(days: $0..<$0 + length, unit: unit)
                }
            }
            spans = all.suffix(Self.maxSpansOfUnit)
            omitsEarlierSpans = spans.count < all.count
            return
        }
        omitsEarlierSpans = false
        let months = periods.map(Self.months(of:))
        if months.reduce(0, { $0 + $1.count }) <= Self.maxSpans {
            unit = .month
            spans = months.flatMap { $0.map { Self.span(ofMonths: $0..<$0 + 1, .month) } }
            return
        }
        let all = Self.months(of: whole)
        let years = all.lowerBound / 12..<(all.upperBound + 11) / 12
        let step = (years.count + Self.maxSpans - 1) / Self.maxSpans
        let unit: ChartUnit = step == 1 ? .year : .years
        self.unit = unit
        spans = stride(from: years.lowerBound, to: years.upperBound, by: step).map {
            Self.span(ofMonths: 12 * $0..<12 * ($0 + step), unit)
        }
    }

    /// The pauses that are omitted between spans.
    var pauses: [DaySpan] {
        zip(spans, spans.dropFirst()).compactMap { earlier, later in
            earlier.days.upperBound < later.days.lowerBound
                ? DaySpan(days: earlier.days.upperBound..<later.days.lowerBound, unit: unit) : nil
        }
    }

    /// Returns the index of the span that contains a day, or `nil` if the day is not shown.
    func index(of day: Int) -> Int? {
        let index = spans.indices.partitioningIndex { spans[$0].days.upperBound > day }
        return index < spans.count && spans[index].days.contains(day) ? index : nil
    }

    /// Returns the periods between long pauses, without outliers at the start and the end.
    private static func periodsWithoutOutliers(_ counts: [Int: Int]) -> [Range<Int>] {
        var runs = runs(counts)
        let total = runs.reduce(0) { $0 + $1.count }
        var removableCount = total / outlierDivisor
        while runs.count > 1, let first = runs.first, let last = runs.last,
            min(first.count, last.count) <= min(removableCount, max(2, total / outlierRunDivisor))
        {
            removableCount -= min(first.count, last.count)
            if first.count <= last.count { runs.removeFirst() } else { runs.removeLast() }
        }
        return runs.map(\.days)
    }

    /// The divisor that limits the excluded items to a tenth of all items.
    private static let outlierDivisor = 10
    /// The divisor that limits the excluded items of one period to a hundredth of all items, or to two if that is more.
    private static let outlierRunDivisor = 100

    /// Returns the periods between long pauses, with the total count of each period.
    private static func runs(_ counts: [Int: Int]) -> [(count: Int, days: Range<Int>)] {
        var runs: [(count: Int, days: Range<Int>)] = []
        for (day, count) in counts.sorted(by: { $0.key < $1.key }) {
            if let last = runs.last, day - last.days.upperBound < minPause {
                runs[runs.count - 1] = (last.count + count, last.days.lowerBound..<day + 1)
            } else {
                runs.append((count, day..<day + 1))
            }
        }
        return runs
    }

    /// Returns the months that contain the days, counted from January of the year 0.
    private static func months(of days: Range<Int>) -> Range<Int> {
        let first = CivilDate(daysSinceEpoch: days.lowerBound)
        let last = CivilDate(daysSinceEpoch: days.upperBound - 1)
        return first.year * 12 + first.month - 1..<last.year * 12 + last.month
    }

    private static func span(ofMonths months: Range<Int>, _ unit: ChartUnit) -> DaySpan {
        func firstDay(_ month: Int) -> Int {
            CivilDate(year: month / 12, month: month % 12 + 1, day: 1)?.daysSinceEpoch ?? 0
        }
        return DaySpan(days: firstDay(months.lowerBound)..<firstDay(months.upperBound), unit: unit)
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
