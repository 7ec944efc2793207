import Bytes
import CivilTime

/// A range of days that a chart shows as one bar.
struct DaySpan: Sendable, Equatable {
    /// The days, counted from 1970-01-01.
    let days: Range<Int>

    /// The dates of the span, such as `2020-03-02` or `2020-03-02 to 2020-03-08`.
    var name: String {
        days.count == 1
            ? Self.name(of: days.lowerBound)
            : "\(Self.name(of: days.lowerBound)) to \(Self.name(of: days.upperBound - 1))"
    }

    var start: String { Self.name(of: days.lowerBound) }

    static func name(of day: Int) -> String {
        let date = CivilDate(daysSinceEpoch: day)
        return "\(date.year.zeroPadded(to: 4))-\(date.month.zeroPadded(to: 2))-\(date.day.zeroPadded(to: 2))"
    }
}

/// The period that a chart shows, divided into a limited number of spans.
///
/// Phone clocks are sometimes wrong by decades. Therefore, a few outliers that are more than a year away from the other
/// days are excluded from the chart and reported as text.
struct ReportCalendar: Sendable {
    enum Unit: String, Sendable {
        case day, week, month, year
        case years = "span of years"
    }

    let unit: Unit
    /// The spans, in order and without gaps.
    let spans: [DaySpan]

    /// The maximum number of bars in a readable chart.
    static let maxSpans = 120
    /// The minimum number of days without items between outliers and the other days.
    private static let minOutlierGap = 366

    /// Creates a calendar from counts by day, or returns `nil` if there are no counts.
    ///
    /// Days are counted from 1970-01-01.
    init?(_ counts: [Int: Int]) {
        guard let days = Self.daysWithoutOutliers(counts) else { return nil }
        for (unit, length) in [(Unit.day, 1), (.week, 7)] where days.count / length < Self.maxSpans {
            self.unit = unit
            // Weeks start on Mondays.
            let start = length == 1 ? days.lowerBound : days.lowerBound - Self.daysSinceMonday(of: days.lowerBound)
            spans = stride(from: start, to: days.upperBound, by: length).map { DaySpan(days: $0..<$0 + length) }
            return
        }
        let first = CivilDate(daysSinceEpoch: days.lowerBound)
        let last = CivilDate(daysSinceEpoch: days.upperBound - 1)
        let months = (last.year - first.year) * 12 + last.month - first.month + 1
        let years = last.year - first.year + 1
        let step = months <= Self.maxSpans ? 1 : 12 * ((years + Self.maxSpans - 1) / Self.maxSpans)
        unit = step == 1 ? .month : step == 12 ? .year : .years
        let start = first.year * 12 + (step == 1 ? first.month - 1 : 0)
        spans = stride(from: start, through: last.year * 12 + last.month - 1, by: step).map { month in
            DaySpan(days: Self.firstDay(ofMonth: month)..<Self.firstDay(ofMonth: month + step))
        }
    }

    /// Returns the index of the span that contains a day, or `nil` if the day is not shown.
    func index(of day: Int) -> Int? {
        guard let first = spans.first, let last = spans.last,
            (first.days.lowerBound..<last.days.upperBound).contains(day)
        else { return nil }
        return spans.indices.partitioningIndex { spans[$0].days.upperBound > day }
    }

    /// Returns the range of all days except outliers at either end.
    private static func daysWithoutOutliers(_ counts: [Int: Int]) -> Range<Int>? {
        var runs = runs(counts)
        guard !runs.isEmpty else { return nil }
        var removableCount = runs.reduce(0) { $0 + $1.count } / outlierDivisor
        while runs.count > 1, let first = runs.first, let last = runs.last,
            min(first.count, last.count) <= removableCount
        {
            removableCount -= min(first.count, last.count)
            if first.count <= last.count { runs.removeFirst() } else { runs.removeLast() }
        }
        guard let first = runs.first, let last = runs.last else { return nil }
        return first.days.lowerBound..<last.days.upperBound
    }

    /// The divisor that limits the excluded items to a tenth of all items.
    private static let outlierDivisor = 10

    /// Returns the ranges of days that are separated by long pauses, with the total count of each range.
    private static func runs(_ counts: [Int: Int]) -> [(count: Int, days: Range<Int>)] {
        var runs: [(count: Int, days: Range<Int>)] = []
        for (day, count) in counts.sorted(by: { $0.key < $1.key }) {
            if let last = runs.last, day - last.days.upperBound < minOutlierGap {
                runs[runs.count - 1] = (last.count + count, last.days.lowerBound..<day + 1)
            } else {
                runs.append((count, day..<day + 1))
            }
        }
        return runs
    }

    /// Returns the number of days between `day` and the Monday of its week.
    private static func daysSinceMonday(of day: Int) -> Int { ((day + 3) % 7 + 7) % 7 }

    /// Returns the first day of a month.
    ///
    /// Months are counted from January of the year 0.
    private static func firstDay(ofMonth month: Int) -> Int {
        CivilDate(year: month / 12, month: month % 12 + 1, day: 1)?.daysSinceEpoch ?? 0
    }
}
