import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases C1 to C8 of values in another form (section 5.3 of the format document).
@Suite struct CoreScalarCaseTests {
    @Test(
        "C1: An integer with a decimal point or an exponent is rewritten as a plain integer",
        arguments: [
            ("durations", "34.0", "34"), ("durations", "1.5e3", "1500"), ("durations", "15E+2", "1500"),
            ("durations", "1500e-2", "15"), ("durations", "9007199254740993.0", "9007199254740993"),
            ("durations", "18446744073709551615.000", "18446744073709551615"), ("durations", "0.0", "0"),
            ("durations", "-0.0", "0"), ("durations", "0e999999999999", "0"), ("tz", "-240.0", "-240"),
            ("sessions", "1e0", "1"), ("seq", "12.000", "12"), ("v", "7.0", "7"), ("v", "0.7e1", "7"),
        ])
    func integerWithPoint(key: String, stored: String, written: String) throws {
        try expect([key: stored], becomes: [key: written], notes: ["C1"])
    }

    @Test("C1: Search counts are normalized too")
    func searchCountWithPoint() throws {
        try expect(
            ["searches": #"{"actionbar.Google":2.0,"actionbar.custom":1}"#],
            becomes: ["searches": #"{"actionbar.Google":2,"actionbar.custom":1}"#], notes: ["C1"])
    }

    @Test(
        "C1: Plain integers of any size are not changed",
        arguments: ["0", "-0", "9007199254740993", "18446744073709551615", "-9223372036854775809"])
    func plainIntegers(text: String) throws {
        try expect(["durations": text])
    }

    @Test(
        "C2: A ping with a fraction in an integer field is held unchanged",
        arguments: [
            ("durations", "34.50"), ("seq", "12.000000000000000001"), ("sessions", "1e-1"), ("profileDate", "0.5"),
            ("durations", "1e65"), ("durations", "1e999999999999999999999"),
        ])
    func fraction(key: String, text: String) throws {
        try expect([key: text], held: ["schema"])
    }

    @Test("C2: A ping with a fraction as version or search count is held")
    func fractionElsewhere() throws {
        try expect(["v": "7.5"], held: ["schema"])
        try expect(["searches": #"{"actionbar.Google":0.5}"#], held: ["schema"])
    }

    @Test(
        "C3: A string that contains a plain decimal integer is replaced with the integer",
        arguments: [
            ("sessions", "12"), ("tz", "-240"), ("durations", "9223372036854775807"), ("seq", "0"), ("v", "7"),
            ("durations", "18446744073709551616"),
        ])
    func integerInText(key: String, text: String) throws {
        try expect([key: "\"\(text)\""], becomes: [key: text], notes: ["C3"])
    }

    @Test(
        "C3: A ping with another string in an integer field is held",
        arguments: ["", "twelve", "0x0c", "+1", "007", "-", "1.0", "1e3", " 1", "1 ", "١"])
    func otherText(text: String) throws {
        try expect(["sessions": "\"\(text)\""], held: ["schema"])
    }

    @Test(
        "C4: A ping with a Boolean in an integer field is held",
        arguments: ["sessions", "durations", "seq", "tz", "profileDate", "v"])
    func integerAsBoolean(key: String) throws {
        try expect([key: "true"], held: ["schema"])
        try expect([key: "false"], held: ["schema"])
    }

    @Test("C5: 0 and 1 in a Boolean field are replaced with Booleans")
    func booleanAsNumber() throws {
        try expect(["showTrackerStatsShare": "1"], becomes: ["showTrackerStatsShare": "true"], notes: ["C5"])
        try expect(["showTrackerStatsShare": "0"], becomes: ["showTrackerStatsShare": "false"], notes: ["C5"])
        try expect(["defaultBrowser": "1"], becomes: ["defaultBrowser": "true"], notes: ["C5"])
        try expect(["showTrackerStatsShare": "true"])
    }

    @Test("C5: A ping with another value in a Boolean field is held", arguments: ["2", "-1", "1.5", #""true""#, "[]"])
    func otherBoolean(value: String) throws {
        try expect(["showTrackerStatsShare": value], held: ["schema"])
    }

    @Test("C6: The integer crashedLastLaunch is not changed", arguments: ["0", "1"])
    func crashedLastLaunch(value: String) throws {
        try expect(["settings": "{\"crashedLastLaunch\":\(value)}"])
    }

    @Test(
        "C7: A documented null is kept",
        arguments: ["defaultSearch", "defaultMailClient", "defaultNewTabExperience", "systemTheme", "openTabCount"])
    func nullAllowed(key: String) throws {
        try expect([key: "null"])
    }

    @Test(
        "C8: An undocumented null is removed",
        arguments: ["searches", "created", "profileDate", "tz", "sessions", "durations", "showTrackerStatsShare"])
    func nullElsewhere(key: String) throws {
        try expect([key: "null"], becomes: [key: nil], notes: ["C8"])
    }

    @Test("C8: A null among the search counts is removed")
    func nullInSearches() throws {
        try expect(
            ["searches": #"{"actionbar.Google":null,"actionbar.custom":1}"#],
            becomes: ["searches": #"{"actionbar.custom":1}"#], notes: ["C8"])
    }

    @Test("C8: Several nulls are removed with one note each")
    func severalNulls() throws {
        try expect(
            ["arch": #""arm""#, "created": "null", "searches": "null", "tz": "null"],
            becomes: ["created": nil, "searches": nil, "tz": nil], notes: ["C8", "C8", "C8"])
    }
}
