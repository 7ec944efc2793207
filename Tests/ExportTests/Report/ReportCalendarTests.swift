import Bytes
import Testing

@testable import Export

/// Tests of the spans that a chart shows.
@Suite struct ReportCalendarTests {
    /// The number of days from 1970-01-01 to 2020-01-01, a Wednesday.
    private static let newYear2020 = 18_262

    private func counts(_ days: some Sequence<Int>) -> [Int: Int] {
        Dictionary(days.map { (Self.newYear2020 + $0, 1) }, uniquingKeysWith: +)
    }

    @Test func noDays() { #expect(ReportCalendar([:]) == nil) }

    @Test func oneDay() throws {
        let calendar = try #require(ReportCalendar(counts([0])))
        #expect(calendar.unit == .day)
        #expect(calendar.spans.map(\.name) == ["2020-01-01"])
    }

    @Test func gapsAreIncluded() throws {
        let calendar = try #require(ReportCalendar(counts([0, 3])))
        #expect(calendar.spans.map(\.name) == ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"])
        #expect((0...3).map { calendar.index(of: Self.newYear2020 + $0) } == [0, 1, 2, 3])
        #expect(calendar.index(of: Self.newYear2020 - 1) == nil)
        #expect(calendar.index(of: Self.newYear2020 + 4) == nil)
    }

    @Test func weeksBeginOnMonday() throws {
        let calendar = try #require(ReportCalendar(counts(stride(from: 0, through: 150, by: 5))))
        #expect(calendar.unit == .week)
        #expect(calendar.spans.first?.name == "2019-12-30 to 2020-01-05")
        // The day 150 days after 2020-01-01 is Saturday, the 30th of May.
        #expect(calendar.spans.last?.name == "2020-05-25 to 2020-05-31")
        #expect(calendar.index(of: Self.newYear2020 + 5) == 1)
    }

    @Test func monthsAndYears() throws {
        let months = try #require(ReportCalendar(counts(stride(from: 0, to: 1000, by: 30))))
        #expect(months.unit == .month)
        #expect(months.spans.first?.name == "Jan 2020")
        #expect(months.spans[1].name == "Feb 2020")
        #expect(months.spans[1].days.count == 29)
        let years = try #require(ReportCalendar(counts(stride(from: 0, to: 12_000, by: 300))))
        #expect(years.unit == .year)
        #expect(years.spans.first?.name == "2020")
        let more = try #require(ReportCalendar(counts(stride(from: 0, to: 120_000, by: 300))))
        #expect(more.unit == .years)
        #expect(more.spans.count <= ReportCalendar.maxSpans)
        #expect(more.spans.first?.name == "2020 to 2022")
    }

    @Test func longPausesAreOmitted() throws {
        let calendar = try #require(ReportCalendar(counts([0, 1, 3000, 3002])))
        #expect(calendar.unit == .day)
        #expect(calendar.spans.map(\.start) == ["2020-01-01", "2020-01-02", "2028-03-19", "2028-03-20", "2028-03-21"])
        #expect(calendar.spans.pauses.map(\.name) == ["2020-01-03 to 2028-03-18"])
        #expect(calendar.index(of: Self.newYear2020 + 1000) == nil)
        #expect(calendar.index(of: Self.newYear2020 + 3001) == 3)
        #expect(ReportCalendar(counts([0, 14]))?.spans.count == 15)
        #expect(ReportCalendar(counts([0, 15]))?.spans.count == 2)
        // Only the five longest pauses are omitted.
        let many = try #require(ReportCalendar(counts([0, 200, 600, 1000, 1400, 1800, 2200])))
        #expect(many.unit == .week && many.spans.pauses.count == 5 && many.index(of: Self.newYear2020 + 100) != nil)
    }

    @Test("A single old day does not stretch the chart", arguments: [20, 300, 390, 3000])
    func oldDay(distance: Int) throws {
        let days = counts([-distance] + Array(0..<6))
        for unit in [nil, ChartUnit.day] {
            let calendar = try #require(ReportCalendar(days, unit: unit))
            #expect(
                calendar.unit == .day && calendar.spans.count == 7
                    && calendar.index(of: Self.newYear2020 - distance) == 0)
        }
    }

    @Test("A sparse chart does not consist of empty days")
    func sparseDays() throws {
        let sparse = counts(stride(from: 0, to: 400, by: 17))
        #expect(ReportCalendar(sparse)?.unit == .week)
        let days = try #require(ReportCalendar(sparse, unit: .day))
        #expect(days.spans.count == 11 && days.omitsEarlierSpans && days.index(of: Self.newYear2020 + 391) == 10)
    }

    @Test func givenUnit() throws {
        let days = try #require(ReportCalendar(counts([0, 14, 100]), unit: .day))
        #expect(days.unit == .day && days.spans.count == 16)
        let weeks = try #require(ReportCalendar(counts([0, 2]), unit: .week))
        #expect(weeks.spans.map(\.name) == ["2019-12-30 to 2020-01-05"])
        let last = try #require(ReportCalendar(counts(0...600), unit: .day))
        #expect(last.spans.count == 120 && last.omitsEarlierSpans && !days.omitsEarlierSpans)
        #expect(last.index(of: Self.newYear2020 + 600) == 119 && last.index(of: Self.newYear2020 + 200) == nil)
    }

    @Test("The first and the last day of a period do not belong to single items")
    func trimmedPeriods() throws {
        var days = counts([0, 1, 6, 7, 20, 900])
        for day in [6, 7] { days[Self.newYear2020 + day] = 10 }
        let calendar = try #require(ReportCalendar(days, minimumCount: 5))
        #expect(calendar.spans.map(\.name) == ["2020-01-07", "2020-01-08"])
        // The days 1 and 2 have at least five items in total.
        days[Self.newYear2020 + 1] = 4
        #expect(ReportCalendar(days, minimumCount: 5)?.spans == calendar.spans)
    }

    @Test("If most items are on days with few items, weeks are shown")
    func weeksOfFewItems() throws {
        // The days 0 to 4 are in a week.
        #expect(ReportCalendar(counts(0...4), minimumCount: 6) == nil)
        let weeks = try #require(ReportCalendar(counts(0...6), minimumCount: 5))
        #expect(weeks.spans.map(\.name) == ["2019-12-30 to 2020-01-05"])
        var days = counts(0...19)
        days[Self.newYear2020 + 9] = 20
        #expect(ReportCalendar(days, minimumCount: 5)?.spans.map(\.name) == ["2020-01-10"])
        days[Self.newYear2020 + 9] = 18
        #expect(ReportCalendar(days, minimumCount: 5)?.unit == .week)
    }

    @Test(arguments: [(0, -3), (3, -3), (4, 4), (-3, -3), (-4, -10), (newYear2020, newYear2020 - 2)])
    func weekOfDay(day: Int, monday: Int) {
        #expect(CalendarWeek(containing: day).firstDay == monday)
    }

    @Test func outliersAreExcluded() throws {
        var days = counts(0..<10).mapValues { $0 * 10 }
        days[0] = 2
        days[Self.newYear2020 + 20_000] = 2
        let calendar = try #require(ReportCalendar(days))
        #expect(calendar.unit == .day)
        #expect(calendar.spans.count == 10)
        #expect(calendar.index(of: 0) == nil)
        // At most two items, or a hundredth of all items, are excluded at either end, and in total at most a tenth.
        days[0] = 3
        #expect(ReportCalendar(days)?.index(of: 0) == 0)
        #expect(ReportCalendar(days.mapValues { $0 * 10 })?.index(of: 0) == 0)
        days[Self.newYear2020] = 1000
        #expect(ReportCalendar(days)?.index(of: 0) == nil)
        #expect(ReportCalendar([0: 1, 1000: 2, 1001: 3])?.index(of: 0) == 0)
    }
}
