import Systems
import Telemetry
import Testing

/// Tests instants in the format of RFC 3339.
///
/// The expected milliseconds were computed with `calendar.timegm` in Python.
@Suite struct TimestampTests {
    @Test(
        "An instant is written in UTC with milliseconds.",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (999, "1970-01-01T00:00:00.999Z"),
            (86_399_999, "1970-01-01T23:59:59.999Z"), (86_400_000, "1970-01-02T00:00:00.000Z"),
            (68_169_599_999, "1972-02-28T23:59:59.999Z"), (68_169_600_000, "1972-02-29T00:00:00.000Z"),
            (68_256_000_000, "1972-03-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"), (1_527_163_208_418, "2018-05-24T12:00:08.418Z"),
            (1_582_934_400_000, "2020-02-29T00:00:00.000Z"), (4_107_456_000_000, "2100-02-28T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_214_400_000, "9999-12-31T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func writtenText(milliseconds: Int64, text: String) throws {
        let time = try #require(Timestamp(milliseconds: milliseconds))
        #expect(time.description == text)
        #expect(Timestamp(rfc3339: text) == time)
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(
        "A date can be before 1970.",
        arguments: [
            (-1, "1969-12-31T23:59:59.999Z"), (-86_400_000, "1969-12-31T00:00:00.000Z"),
            (-86_400_001, "1969-12-30T23:59:59.999Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func earlyText(milliseconds: Int64, text: String) throws {
        let time = try #require(Timestamp(inAnyYear: milliseconds))
        #expect(time.description == text)
        #expect(Timestamp(rfc3339: text) == time)
        #expect(Timestamp(milliseconds: milliseconds) == nil)
    }

    @Test("Years that RFC 3339 cannot express are rejected.", arguments: [253_402_300_800_000, Int64.min, Int64.max])
    func outOfRange(milliseconds: Int64) {
        #expect(Timestamp(milliseconds: milliseconds) == nil)
        #expect(Timestamp(inAnyYear: milliseconds) == nil)
        #expect(Timestamp(inAnyYear: -62_167_219_200_001) == nil)
    }

    @Test(
        "Strings in the format of RFC 3339 are read.",
        arguments: [
            ("2018-05-24", 1_527_120_000_000), ("2018-05-24T12:00:08Z", 1_527_163_208_000),
            ("2018-05-24t12:00:08z", 1_527_163_208_000), ("2018-05-24 12:00:08Z", 1_527_163_208_000),
            ("2018-05-24T12:00:08.4Z", 1_527_163_208_400), ("2018-05-24T12:00:08.41Z", 1_527_163_208_410),
            ("2018-05-24T12:00:08.4189999999999999999999Z", 1_527_163_208_418),
            ("2018-05-24T12:00:08.0009Z", 1_527_163_208_000), ("2018-05-24T14:00:08+02:00", 1_527_163_208_000),
            ("2018-05-24T08:30:08.5-03:30", 1_527_163_208_500), ("2018-05-24T12:00:08-00:00", 1_527_163_208_000),
            ("2018-05-25T01:00:00+14:00", 1_527_159_600_000), ("1970-01-01T00:00:00+00:00", 0),
            ("1969-12-31T23:00:00-01:00", 0), ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("1970-01-01", 0),
            ("9999-12-31", 253_402_214_400_000), ("2000-02-29", 951_782_400_000), ("2020-02-29", 1_582_934_400_000),
        ] as [(String, Int64)])
    func readText(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(
        "Other strings are rejected.",
        arguments: [
            "", "2018", "2018-05", "2018-5-24", "18-05-24", "2018/05/24", "2018-05-24T", "2018-05-24T12:00",
            "2018-05-24T12:00:08", "2018-05-24T12:00Z", "2018-05-24T12:00:08.Z", "2018-05-24T12:00:08.4",
            "2018-05-24T12:00:08,4Z", "2018-05-24T24:00:00Z", "2018-05-24T12:60:00Z", "2018-05-24T12:00:61Z",
            "2018-05-24T12:00:08+0200", "2018-05-24T12:00:08+02", "2018-05-24T12:00:08+24:00",
            "2018-05-24T12:00:08+02:60", "2018-05-24T12:00:08 02:00", "2018-05-24T12:00:08ZZ",
            "2018-05-24T12:00:08Z ", " 2018-05-24", "2018-05-24x", "2018-05-24T1a:00:08Z", "2018-00-24", "2018-13-24",
            "2018-05-00", "2018-05-32", "2018-04-31", "2018-02-29", "1900-02-29", "2100-02-29", "2018-05-24_12:00:08Z",
            "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
            "\u{662}\u{660}\u{661}\u{668}-05-24", "-018-05-24", "+2018-05-2",
        ])
    func rejectedText(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("Consecutive days are written in ascending order and read back.")
    func manyDays() throws {
        var previous = ""
        // 29 has no common factor with the lengths of years, so that all days of the year are tested.
        for day in stride(from: 0, to: 2_932_897, by: 29) {
            let time = try #require(Timestamp(milliseconds: Int64(day) * 86_400_000))
            let text = time.description
            guard text > previous, Timestamp(rfc3339: String(text.prefix(10))) == time else {
                Issue.record("day \(day): \(text) after \(previous)")
                return
            }
            previous = text
        }
        #expect(previous.hasPrefix("9999-12-"))
    }

    @Test(
        "A time is plausible from the first year of a system to the year 2037",
        arguments: [
            (SystemName.mozilla, "2014-12-31T23:59:59.999Z", ClockState.beforeApp),
            (.mozilla, "2015-01-01T00:00:00Z", .plausible), (.mozilla, "2037-12-31T23:59:59.999Z", .plausible),
            (.mozilla, "2038-01-01T00:00:00Z", .future), (.mozilla, "1969-12-31T00:00:00Z", .beforeApp),
            (.mozilla, "9999-12-31T00:00:00Z", .future), (.adjust, "2012-12-31T23:59:59Z", .beforeApp),
            (.adjust, "2013-01-01T00:00:00Z", .plausible), (.leanplum, "2012-01-01T00:00:00Z", .plausible),
            (.sift, "2015-01-01T00:00:00Z", .plausible), (.glean, "2017-12-31T23:59:59Z", .beforeApp),
            (.glean, "2018-01-01T00:00:00Z", .plausible), (.activityStream, "2015-12-31T23:59:59Z", .beforeApp),
        ])
    func clockState(system: SystemName, text: String, state: ClockState) throws {
        let (time, known) = (try #require(Timestamp(rfc3339: text)), try #require(Systems.table[system]))
        #expect(ClockState(of: time, earliest: known.earliestTime) == state)
    }

    @Test("Instants are ordered by their milliseconds.")
    func order() throws {
        let early = try #require(Timestamp(rfc3339: "2018-05-24T12:00:08.418Z"))
        let late = try #require(Timestamp(rfc3339: "2018-05-24T12:00:08.419Z"))
        #expect(early < late)
        #expect(!(late < early))
        #expect(early == Timestamp(milliseconds: 1_527_163_208_418))
    }
}
