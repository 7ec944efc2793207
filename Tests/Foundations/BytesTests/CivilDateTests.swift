import Bytes
import Testing

@Suite struct CivilDateTests {
    @Test(arguments: [
        (0, 1970, 1, 1), (-1, 1969, 12, 31), (59, 1970, 3, 1), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1),
        (-25_508, 1900, 3, 1), (-719_468, 0, 3, 1), (2_932_896, 9999, 12, 31),
    ])
    func daysAreCountedFromTheEpoch(count: Int, year: Int, month: Int, day: Int) throws {
        let date = CivilDate(daysSinceEpoch: count)
        #expect((date.year, date.month, date.day) == (year, month, day))
        #expect(try #require(CivilDate(year: year, month: month, day: day)).daysSinceEpoch == count)
    }

    @Test(arguments: [(2023, 2, 29), (1900, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (2024, 1, 0)])
    func invalidDatesAreRejected(year: Int, month: Int, day: Int) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test func consecutiveDaysRoundTrip() {
        for count in -100...146_200 { #expect(CivilDate(daysSinceEpoch: count).daysSinceEpoch == count) }
    }
}
