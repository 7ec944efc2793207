import Telemetry
import TestSupport
import Testing

/// Tests the exact reading of decimal seconds.
@Suite struct DecimalTimeTests {
    @Test(
        "A number is split into whole seconds and a fraction.",
        arguments: [
            ("0", 0, 0), ("-0", 0, 0), ("-0.0", 0, 0), ("1527163208", 1_527_163_208, 0),
            ("1527163208.4180789", 1_527_163_208, 418_078_900_000_000_000),
            ("1.5271632084180789e9", 1_527_163_208, 418_078_900_000_000_000),
            ("15271632084180789E-7", 1_527_163_208, 418_078_900_000_000_000),
            ("0.000000000000000001", 0, 1), ("0.0000000000000000019", 0, 1), ("1e-400", 0, 0),
            ("0.1", 0, 100_000_000_000_000_000), ("0.10", 0, 100_000_000_000_000_000), ("-1", -1, 0),
            ("-0.25", -1, 750_000_000_000_000_000), ("-1.5", -2, 500_000_000_000_000_000),
            ("0.999999999999999999999999", 0, 999_999_999_999_999_999),
            ("999999999999999999.5", 999_999_999_999_999_999, 500_000_000_000_000_000),
            ("1000000000000000000", 1_000_000_000_000_000_000, 0),
            ("1000000000000000000.5", 1_000_000_000_000_000_000, 0), ("1e30", 1_000_000_000_000_000_000, 0),
            ("-1e30", -1_000_000_000_000_000_000, 0), ("1e999999999999999999999", 1_000_000_000_000_000_000, 0),
            ("0e999999999999999999999", 0, 0), ("0001.50", 1, 500_000_000_000_000_000),
        ] as [(String, Int64, UInt64)])
    func parts(text: String, seconds: Int64, fraction: UInt64) throws {
        let time = try #require(decimalTime(text))
        #expect(time.seconds == seconds)
        #expect(time.fraction == fraction)
    }

    @Test(
        "Other strings are rejected.",
        arguments: ["", "-", ".", "1.2.3", "e5", "1e", "1e+", "1x", " 1", "1 ", "NaN", "+1"])
    func rejectedStrings(text: String) {
        #expect(decimalTime(text) == nil)
    }

    @Test(
        "The instant is truncated to milliseconds.",
        arguments: [
            ("0", 0), ("0.0009999", 0), ("1527163208.4189999", 1_527_163_208_418), ("12.25", 12_250),
            ("253402300799.999999", 253_402_300_799_999), ("253402300800", nil), ("-0.0001", nil), ("-1", nil),
            ("9223372036854774", nil), ("9223372036854775.807", nil), ("9223372036854775.9", nil),
            ("9223372036854776", nil), ("1e18", nil), ("1e30", nil), ("-1e30", nil), ("-9223372036854775.9", nil),
        ] as [(String, Int64?)])
    func timestamp(text: String, milliseconds: Int64?) throws {
        let time = try #require(decimalTime(text))
        #expect(time.timestamp?.milliseconds == milliseconds)
    }

    @Test(
        "A time can have an exponent, and milliseconds have no fraction.",
        arguments: [
            ("1497595093.902999", 1_497_595_093_902, nil), ("1.497595093902E9", 1_497_595_093_902, nil),
            ("1497595093902", nil, 1_497_595_093_902), ("1.497595093902E12", nil, 1_497_595_093_902),
            ("0e400", 0, 0), ("1e400", nil, nil), ("-1", nil, nil), ("", nil, nil), ("1e", nil, nil), ("inf", nil, nil),
        ] as [(String, Int64?, Int64?)])
    func notations(text: String, seconds: Int64?, milliseconds: Int64?) {
        #expect(Timestamp(decimalSeconds: text.utf8.span)?.milliseconds == seconds)
        #expect(Timestamp(decimalMilliseconds: text.utf8.span)?.milliseconds == milliseconds)
    }

    @Test("Times that are equal as floating-point numbers are ordered.")
    func order() throws {
        let texts = [
            "-1e30", "-2", "-1.5", "-1.4999999999999999", "0", "0.000000000000000001", "1527163208.4180789",
            "1527163208.41807890000000001", "1527163208.5", "9007199254740992", "9007199254740993",
            "9007199254740993.000001", "1e30",
        ]
        let times = try texts.map { try #require(decimalTime($0)) }
        for (left, right) in zip(times, times.dropFirst()) {
            #expect(left < right)
            #expect(!(right < left))
        }
    }
}
