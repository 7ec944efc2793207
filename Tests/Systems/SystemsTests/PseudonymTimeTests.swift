import JSONText
import Systems
import Telemetry
import Testing

/// Tests rounding the times in payloads of each system.
@Suite struct PseudonymTimeTests {
    /// A payload whose times depend on the minute of the hour.
    struct Example: Sendable, CustomTestStringConvertible {
        let system: SystemName
        let type: String
        /// Returns the payload for times at the given minute after 2020-03-02T13:00Z.
        let payload: @Sendable (_ minute: Int) -> String

        var testDescription: String { "\(system) \(type)" }
    }

    /// Returns an instant in milliseconds since 1970.
    @Sendable private static func milliseconds(_ minute: Int) -> Int { 1_583_154_000_000 + minute * 60_000 + minute }

    /// Returns the minute of the hour as two digits.
    @Sendable private static func digits(_ minute: Int) -> String { String("\(100 + minute % 60)".dropFirst()) }

    /// Returns the time of day in a time zone that is an hour ahead of UTC.
    @Sendable private static func clock(_ minute: Int) -> String { "\(14 + minute / 60):\(digits(minute))" }

    private static let examples = [
        Example(
            system: .mozilla, type: "focus-event",
            payload: { minute in
                let time = milliseconds(minute)
                return #"""
                    {"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","created":\#(time),"createdDate":"2020-03-02",\#
                    "createdTimestamp":\#(time),"events":[[\#(minute),"action","foreground","app"],[\#(60_000 * minute),"action",\#
                    "background","app"]],"locale":"de","os":"iOS","osversion":"13.3.1","processStartTimestamp":\#(time),"seq":1,\#
                    "settings":{},"tz":60,"v":1}
                    """#
            }),
        Example(
            system: .glean, type: "events",
            payload: { minute in
                let clock = clock(minute)
                return #"""
                    {"client_info":{"app_build":"1","app_display_version":"2","architecture":"D63AP","build_date":\#
                    "2020-03-01T\#(clock):07+00:00","first_run_date":"2020-01-03+01:00","os":"iOS","os_version":"18",\#
                    "telemetry_sdk_build":"68.0.0"},"events":[{"category":"glean","extra":{"glean.startup.date":\#
                    "2020-03-02T\#(clock)+01:00","glean_timestamp":"\#(milliseconds(minute))"},"name":"restarted","session":\#
                    {"event_seq":1,"session_id":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","session_sample_rate":1.0,"session_seq":1,\#
                    "session_start_time":"2020-03-02T\#(clock):\#(digits(minute)).123+01:00"},"timestamp":\#(minute * 60_000)}],\#
                    "metrics":{"datetime":{"app.opened":"2020-03-02T\#(clock):01.000000001+01:00"}},"ping_info":{"end_time":\#
                    "2020-03-02T\#(clock)+01:00","seq":1,"start_time":"2020-03-02T\#(clock):00.500+01:00"}}
                    """#
            }),
        // The clock of older SDKs counts nanoseconds.
        Example(
            system: .glean, type: "events",
            payload: { minute in
                #"""
                {"client_info":{"app_build":"1","app_display_version":"2","architecture":"D63AP","first_run_date":\#
                "2020-01-03+01:00","os":"iOS","os_version":"13","telemetry_sdk_build":"30.1.0"},"events":[{"category":"a",\#
                "name":"b","timestamp":\#(minute * 60_000_000_000)}],"ping_info":{"end_time":"2020-03-02T14+01:00","seq":1,\#
                "start_time":"2020-03-02"}}
                """#
            }),
        // The version of the SDK is unknown.
        Example(
            system: .glean, type: "custom",
            payload: { minute in
                #"{"events":[{"category":"a","name":"b","timestamp":\#(minute * 60_000_000_000 + minute)}]}"#
            }),
        Example(
            system: .sift, type: "mobile_events",
            payload: { minute in
                #"{"data":[{"installation_id":"I","time":\#(milliseconds(minute))},{"time":\#(milliseconds(minute + 1))}]}"#
            }),
        Example(
            system: .leanplum, type: "multi",
            payload: { minute in
                let time = "\(milliseconds(minute) / 1000).\(digits(minute))2000"
                return #"""
                    {"data":[{"action":"start","client":"ios","devMode":false,"deviceId":"D","installDate":"\#(time)","sdkVersion":\#
                    "2.0.5","time":"\#(time)","updateDate":"\#(time)","userId":"U"}]}
                    """#
            }),
        // A time with an exponent, as in the requests that Mozilla's documentation prints.
        Example(
            system: .leanplum, type: "multi",
            payload: { minute in
                let time = "1.\("\(milliseconds(minute) / 1000)".dropFirst())E9"
                return #"""
                    {"data":[{"action":"start","client":"ios","devMode":false,"deviceId":"D","sdkVersion":"2.0.5","time":\#
                    "\#(time)","userId":"U"}]}
                    """#
            }),
        Example(
            system: .activityStream, type: "activity-stream-mobile-sessions",
            payload: { minute in
                #"""
                {"app_version":"8.0","build":"4123","client_id":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","locale":"de","session_duration":\#
                \#(milliseconds(minute)),"topic":"activity-stream-mobile-sessions"}
                """#
            }),
        Example(
            system: .adjust, type: "session",
            payload: { minute in
                let time = "2020-03-02T\(clock(minute)):\(digits(minute)).417Z+0100"
                return #"""
                    {"app_token":"4w565xzmb54d","app_updated_at":"\#(time)","created_at":"\#(time)","environment":"production",\#
                    "installed_at":"\#(time)","session_count":"4","skadn_registered_at":"\#(time)","started_at":"\#(time)",\#
                    "transaction_date":"\#(time)"}
                    """#
            }),
    ]

    private func rewritten(_ example: Example, minute: Int, _ unit: TimeUnit?) throws -> Record {
        let document = try JSONDocument(Array(example.payload(minute).utf8))
        var record = Record(
            system: example.system, type: example.type, id: "x", client: "c",
            time: Timestamp(milliseconds: Int64(Self.milliseconds(minute))),
            payload: document.canonicalBytes(of: document.root),
            source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
        let key = try PseudonymKey([UInt8](repeating: 7, count: 32))
        var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table, timeUnit: unit)
        let counts = try pseudonymizer.pseudonymize(&record)
        #expect(counts == PseudonymCounts())
        return record
    }

    @Test("Records that differ only in their times in an hour become equal.", arguments: examples)
    func hour(example: Example) throws {
        let first = try rewritten(example, minute: 1, .hour)
        #expect(try rewritten(example, minute: 58, .hour) == first)
        #expect(try rewritten(example, minute: 1, nil) != rewritten(example, minute: 58, nil))
    }

    @Test("Records that differ only in their times in a day become equal.", arguments: examples)
    func day(example: Example) throws {
        let first = try rewritten(example, minute: 1, .day)
        #expect(try rewritten(example, minute: 9 * 60 + 58, .day) == first)
        #expect(try rewritten(example, minute: 1, .hour) != first)
    }

    @Test("Other hours and days remain different.")
    func differences() throws {
        let example = Self.examples[0]
        #expect(try rewritten(example, minute: 60, .hour) != rewritten(example, minute: 59, .hour))
        #expect(try rewritten(example, minute: 11 * 60, .day) != rewritten(example, minute: 10 * 60, .day))
    }
}
