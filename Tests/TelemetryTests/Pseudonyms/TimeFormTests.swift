import JSONText
import Testing

@testable import Telemetry

/// Tests rounding times to hours and days.
@Suite struct TimeFormTests {
    private func rounded(_ text: String, _ form: TimeForm, _ unit: TimeUnit) -> String? {
        form.rounded(Array(text.utf8).span, to: unit, in: JSONDocument()).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Dates and times

    /// A date and a time, and the expected hour and day.
    private static let texts: [(text: String, hour: String, day: String)] = [
        ("2018-05-24T12:34:56.789Z", "2018-05-24T12:00:00.000Z", "2018-05-24T00:00:00.000Z"),
        ("2018-05-24T12:34:56Z", "2018-05-24T12:00:00Z", "2018-05-24T00:00:00Z"),
        ("2018-05-24T12:34Z", "2018-05-24T12:00Z", "2018-05-24T00:00Z"),
        ("2018-05-24T12Z", "2018-05-24T12Z", "2018-05-24T00Z"),
        ("2018-05-24T23:59:59.123456789Z", "2018-05-24T23:00:00.000000000Z", "2018-05-24T00:00:00.000000000Z"),
        // The hour or day begins in UTC. The offset is kept.
        ("2020-05-22T16:10+02:00", "2020-05-22T16:00+02:00", "2020-05-22T02:00+02:00"),
        ("2020-05-22T01:59:01+02:00", "2020-05-22T01:00:00+02:00", "2020-05-21T02:00:00+02:00"),
        ("2020-03-01T00:30:00-05:00", "2020-03-01T00:00:00-05:00", "2020-02-29T19:00:00-05:00"),
        ("2020-01-01T00:10+05:30", "2019-12-31T23:30+05:30", "2019-12-31T05:30+05:30"),
        ("2020-06-15T16:45+05:45", "2020-06-15T16:45+05:45", "2020-06-15T05:45+05:45"),
        ("2020-06-15T16:44+05:45", "2020-06-15T15:45+05:45", "2020-06-15T05:45+05:45"),
        ("2020-06-15T12:20-03:30", "2020-06-15T11:30-03:30", "2020-06-14T20:30-03:30"),
        // A time without minutes cannot state the minutes of the offset.
        ("2020-06-15T16+05:30", "2020-06-15T16+05:30", "2020-06-15T05+05:30"),
        // The form of Adjust, in which the offset follows a letter without a meaning.
        ("2017-03-20T10:53:20.418Z+0200", "2017-03-20T10:00:00.000Z+0200", "2017-03-20T02:00:00.000Z+0200"),
        ("2014-07-21T14:05:16Z-0500", "2014-07-21T14:00:00Z-0500", "2014-07-20T19:00:00Z-0500"),
        ("2018-05-24 12:34:56 +0000", "2018-05-24 12:00:00 +0000", "2018-05-24 00:00:00 +0000"),
        ("2018-05-24T12:34:56", "2018-05-24T12:00:00", "2018-05-24T00:00:00"),
        ("2018-05-24T12:34:56.5", "2018-05-24T12:00:00.0", "2018-05-24T00:00:00.0"),
        // A date is kept.
        ("2018-05-24", "2018-05-24", "2018-05-24"), ("2025-11-03-05:00", "2025-11-03-05:00", "2025-11-03-05:00"),
        ("2025-11-03Z", "2025-11-03Z", "2025-11-03Z"), ("2560-12-08", "2560-12-08", "2560-12-08"), ("", "", ""),
        // Before 1970.
        ("1969-12-31T23:59:59Z", "1969-12-31T23:00:00Z", "1969-12-31T00:00:00Z"),
        ("1904-01-01T00:00:01+01:00", "1904-01-01T00:00:00+01:00", "1903-12-31T01:00:00+01:00"),
        ("0000-01-01T00:00:01Z", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ]

    @Test("The time of day is rounded down, and the form is kept.", arguments: texts.indices) func text(index: Int) {
        let (text, hour, day) = Self.texts[index]
        #expect(rounded(text, .text, .hour) == hour)
        #expect(rounded(text, .text, .day) == day)
        // Rounding again changes nothing.
        #expect(rounded(hour, .text, .hour) == hour)
        #expect(rounded(day, .text, .day) == day)
        #expect(rounded(day, .text, .hour) == day)
        #expect(rounded(hour, .text, .day) == day)
    }

    private static let invalidTexts = [
        "2018", "2018-05", "2018-13-01", "2018-02-30T10:00Z", "2018-05-24T", "2018-05-24T1", "2018-05-24T25:00Z",
        "2018-05-24T12:60Z", "2018-05-24T12:5", "2018-05-24T12:34:", "2018-05-24T12:34:60Z", "2018-05-24T12:34:56.Z",
        "2018-05-24T12:34:56,5Z", "2018-05-24T12:34ZZ", "2018-05-24T12:34+2", "2018-05-24T12:34+02:",
        "20180524T123456Z", "2018-05-24T12:34+02:00:00", "2018-05-24T12:34+25:00", "2018-05-24T12:34-02:60",
        "2018-05-24T12:34 ", "12:34:56",
        "1527163171020", "2018-05-24T12.34.56", "2018-05-24  12:34", "0000-01-01T00:10+05:30", "2018-05-24+", "--", "T",
    ]

    @Test("A string in another form is not a time.", arguments: invalidTexts) func invalid(text: String) {
        for unit in TimeUnit.allCases {
            #expect(rounded(text, .text, unit) == nil)
        }
    }

    // MARK: Numbers

    private static let seconds = TimeForm.ticks { _ in 1 }
    private static let nanoseconds = TimeForm.ticks { _ in 1_000_000_000 }
    private static let end = "253402300800"

    /// A number, and the expected hour and day.
    private static let numbers: [(form: TimeForm, number: String, hour: String, day: String)] = [
        (.milliseconds, "1527163208377", "1527163200000", "1527120000000"),
        (.milliseconds, "1527163200000", "1527163200000", "1527120000000"),
        (.milliseconds, "1.527163208377e12", "1527163200000", "1527120000000"),
        (.milliseconds, "1527163208377.25", "1527163200000.00", "1527120000000.00"),
        (.milliseconds, "0", "0", "0"), (.milliseconds, "3599999", "0", "0"),
        (.milliseconds, "3600000", "3600000", "0"),
        (.milliseconds, "90000000", "90000000", "86400000"), (.milliseconds, "-1", "-3600000", "-86400000"),
        (.milliseconds, "-0.5", "-3600000.0", "-86400000.0"), (.milliseconds, "-3600000", "-3600000", "-86400000"),
        // Microseconds and nanoseconds since 1970 are beyond the year 9999.
        (.milliseconds, "1527163208377123", "\(end)000", "\(end)000"),
        (.milliseconds, "1527163208377123456", "\(end)000", "\(end)000"),
        (.milliseconds, "1e40", "\(end)000", "\(end)000"), (.milliseconds, "-1e40", "-\(end)000", "-\(end)000"),
        (.millisecondsText, "1768902731204", "1768899600000", "1768867200000"),
        (.millisecondsText, "86911040", "86400000", "86400000"), (.millisecondsText, "", "", ""),
        (.secondsText, "1497595093.902000", "1497592800.000000", "1497571200.000000"),
        (.secondsText, "1497595093", "1497592800", "1497571200"),
        (.secondsText, "-12.5", "-3600.0", "-86400.0"), (.secondsText, "1527163208377", end, end),
        (seconds, "7261", "7200", "0"), (nanoseconds, "3599999999999", "0", "0"),
        (nanoseconds, "90061000000001", "90000000000000", "86400000000000"),
        (.durationOrTime, "96", "96", "96"), (.durationOrTime, "999999999999", "999999999999", "999999999999"),
        (.durationOrTime, "12.5", "12.5", "12.5"), (.durationOrTime, "-5", "-5", "-5"),
        (.durationOrTime, "1497951302417", "1497949200000", "1497916800000"),
    ]

    @Test("A number is rounded down to a multiple of the unit.", arguments: numbers.indices) func number(index: Int) {
        let (form, number, hour, day) = Self.numbers[index]
        #expect(rounded(number, form, .hour) == hour)
        #expect(rounded(number, form, .day) == day)
        #expect(rounded(hour, form, .hour) == hour)
        #expect(rounded(hour, form, .day) == day)
    }

    @Test("A string that is not a number is not a time.", arguments: ["x", "12.", ".5", "1-2", "--1"])
    func invalidNumber(text: String) {
        #expect(rounded(text, .secondsText, .hour) == nil)
    }

    @Test("An instant is rounded down to the hour or day in UTC.") func instants() throws {
        let cases = [
            ("2018-05-24T12:34:56.789Z", "2018-05-24T12:00:00.000Z", "2018-05-24T00:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:00:00.000Z", "1969-12-31T00:00:00.000Z"),
            ("0000-01-01T00:00:00.001Z", "0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:00:00.000Z", "9999-12-31T00:00:00.000Z"),
        ]
        for (text, hour, day) in cases {
            let time = try #require(Timestamp(rfc3339: text))
            #expect(time.roundedDown(to: .hour)?.description == hour)
            #expect(time.roundedDown(to: .day)?.description == day)
        }
    }
}
