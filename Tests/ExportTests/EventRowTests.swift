import Bytes
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// Tests of the rows of events, and of their times in particular.
@Suite struct EventRowTests {
    /// The rows of one record, whose time is 2020-03-02T12:00:00.000Z.
    private struct Rows {
        private let buffer: RowBuffer
        private let tables = ExportTables(Systems.table).all

        init(
            _ system: SystemName, _ type: String, _ payload: String, for contents: ExtraContents = .remainingData,
            client: String? = "C", time: Timestamp? = Timestamp(milliseconds: 1_583_150_400_000),
            target: Target? = nil, held: [Hold] = [], notes: [String] = []
        ) throws {
            let record = Record(
                system: system, type: type, id: "1", client: client, time: time,
                target: target, payload: Array(payload.utf8), source: Sample.source, notes: notes, held: held)
            var line: [UInt8] = []
            let layout = record.write(to: &line)
            var batch = RecordBatch(firstNumber: 1)
            batch.add(RecordSummary(record), line: line[...], payload: line[layout.payload])
            var builder = RowBuilder(tables, systems: Systems.table, contents)
            _ = try builder.buildRows(of: batch)
            buffer = builder.rows.buffer
        }

        func column(_ name: String, of table: String = "events") -> [String?] {
            guard let index = tables.firstIndex(where: { $0.name == table }),
                let column = tables[index].columns.firstIndex(where: { $0.name == name })
            else { return [] }
            let width = tables[index].columns.count
            return stride(from: column, to: buffer.cells[index].count, by: width).map { place in
                switch buffer.cells[index][place] {
                case .null: nil
                case .integer(let number): "\(number)"
                case .real(let start, let count), .text(let start, let count):
                    String(decoding: buffer.bytes(start, count), as: UTF8.self)
                }
            }
        }
    }

    @Test func eventsOfMozillaHaveTimesSinceTheStartOfTheProcess() throws {
        let rows = try Rows(
            .mozilla, "mobile-event",
            #"""
            {"events":[[61240,"a","b","c"],[3,"a","b","c"],[2147,"a","b","c"],["x","a","b","c"],[-1,"a","b","c"]],\#
            "processStartTimestamp":1583150100000}
            """#)
        let time = "2020-03-02T12:00:00.000Z"
        #expect(
            rows.column("at") == [time, "2020-03-02T11:55:00.003Z", "2020-03-02T11:55:02.147Z", time, time])
        #expect(rows.column("at_ms")[1] == "1583150100003")
        #expect(rows.column("at_basis") == ["earlier-run", "process-start", "process-start", "record", "record"])
        #expect(rows.column("time") == Array(repeating: time, count: 5))
        #expect(rows.column("time_basis") == ["earlier-run", "record", "record", "record", "record"])
    }

    @Test(arguments: ["-5", "1.5", "\"1583150100000\"", "9223372036854775807", "253402300800000", "null"])
    func unusableStartOfTheProcess(start: String) throws {
        let rows = try Rows(.mozilla, "focus-event", #"{"events":[[7,"a","b"]],"processStartTimestamp":\#(start)}"#)
        #expect(rows.column("at") == ["2020-03-02T12:00:00.000Z"])
        #expect(rows.column("at_basis") == ["record"])
    }

    @Test func eventsOfGleanHaveTheTimeOfTheClockOrOneSinceTheStartOfThePing() throws {
        let rows = try Rows(
            .glean, "events",
            #"""
            {"events":[{"extra":{"glean_timestamp":"1583150399123"},"timestamp":0},{"timestamp":1500},\#
            {"extra":{"glean_timestamp":"86911040"},"timestamp":2000},{"execution_counter":1,"timestamp":2},\#
            {"extra":{"glean_timestamp":1583150399123},"timestamp":-1},{"timestamp":9223372036854775807}],\#
            "ping_info":{"start_time":"2020-03-02T12:10+01:00"}}
            """#)
        #expect(
            rows.column("at_basis") == ["event", "ping-start", "ping-start", "record", "record", "record"])
        #expect(
            rows.column("at").prefix(3) == [
                "2020-03-02T11:59:59.123Z", "2020-03-02T11:10:01.500Z", "2020-03-02T11:10:02.000Z",
            ])
        #expect(rows.column("time_basis") == Array(repeating: "record", count: 6))
    }

    @Test(
        "Events of Glean SDKs before 36.0 on iOS have timestamps in nanoseconds",
        arguments: [
            ("iOS", "35.0.1", "2020-03-02T11:10:01.500Z"), ("iOS", "36.0.0", "2020-03-19T19:50:00.000Z"),
            ("Android", "35.0.1", "2020-03-19T19:50:00.000Z"), ("iOS", "unknown", "2020-03-19T19:50:00.000Z"),
        ])
    func nanoseconds(os: String, version: String, expected: String) throws {
        let rows = try Rows(
            .glean, "events",
            #"""
            {"client_info":{"os":"\#(os)","telemetry_sdk_build":"\#(version)"},"events":[{"timestamp":1500000000}],\#
            "ping_info":{"start_time":"2020-03-02T12:10+01:00"}}
            """#)
        #expect(rows.column("at") == [expected])
    }

    @Test func gleanEventsWithoutAPingHaveTheTimeOfTheRecord() throws {
        let rows = try Rows(.glean, "events", #"{"events":[{"timestamp":1500}]}"#)
        #expect(rows.column("at_basis") == ["record"])
    }

    @Test func otherEventsHaveTheirOwnTimesAndUsers() throws {
        let sift = try Rows(
            .sift, "mobile_events",
            #"{"data":[{"mobile_event_type":"x","time":1583150399123,"user_id":"u1"},{"mobile_event_type":"y"}]}"#)
        #expect(sift.column("at") == ["2020-03-02T11:59:59.123Z", "2020-03-02T12:00:00.000Z"])
        #expect(sift.column("at_basis") == ["event", "record"])
        #expect(sift.column("time_basis") == ["event", "record"])
        #expect(sift.column("user_id") == ["u1", nil])
        let leanplum = try Rows(
            .leanplum, "multi", #"{"data":[{"action":"start","time":"1583150399.123456","userId":"u2"}]}"#)
        #expect(leanplum.column("at") == ["2020-03-02T11:59:59.123Z"])
        #expect(leanplum.column("user_id") == ["u2"])
    }

    @Test func statesOfSiftHaveTheNameAndTheLabelOfTheirRequests() throws {
        let payload = #"""
            {"data":[{"ios_app_state":{"a":1},"time":1583150399123},{"ios_device_properties":{"b":2}},\#
            {"ios_app_state":null,"ios_device_properties":{}},{"ios_app_state":null},\#
            {"ios_app_state":{},"mobile_event_type":"z"}]}
            """#
        let rows = try Rows(.sift, "mobile_events", payload)
        #expect(
            rows.column("name") == ["ios_app_state", "ios_device_properties", "ios_device_properties", nil, "z"])
        #expect(
            rows.column("label") == [
                "State of the app and its sensors", "Properties of the device", "Properties of the device", nil, nil,
            ])
        #expect(rows.column("extra") == [nil, nil, nil, nil, nil])
        let timeline = try Rows(.sift, "mobile_events", payload, for: .allTables)
        #expect(timeline.column("extra").first == #"{"ios_app_state":{"a":1}}"#)
    }

    @Test func recordsHaveTheValuesOfTheirLine() throws {
        let headers: [CapturedText: String] = ["X-Source-Tags": "b\"c", "X-Debug-ID": "é"]
        let rows = try Rows(
            .glean, "events", "{}", target: Target(path: "/submit", headers: headers),
            held: [Hold("schema", "  a: b"), Hold("x")], notes: ["C8 searches: null removed", "E13"])
        #expect(rows.column("headers", of: "records") == [#"{"X-Debug-ID":"é","X-Source-Tags":"b\"c"}"#])
        #expect(rows.column("target", of: "records") == ["/submit"])
        #expect(
            rows.column("uploadable", of: "records") == ["0"] && rows.column("day", of: "records") == ["2020-03-02"])
        #expect(
            rows.column("code", of: "holds") == ["schema", "x"] && rows.column("detail", of: "holds") == ["a: b", nil])
        #expect(rows.column("n", of: "notes") == ["0", "1"] && rows.column("code", of: "notes") == ["C8", "E13"])
        #expect(rows.column("text", of: "notes") == ["searches: null removed", nil])
    }

    @Test("Days and clocks belong to the times beside them")
    func daysAndClocks() throws {
        // The first event has an impossible time, and the second none.
        let rows = try Rows(
            .sift, "mobile_events", #"{"data":[{"time":4102444800000},{"time":7258118400000},{}]}"#)
        #expect(rows.column("day") == ["2100-01-01", "2200-01-01", "2020-03-02"])
        #expect(rows.column("clock") == ["future", "future", "plausible"])
        #expect(rows.column("at_day") == ["2100-01-01", "2020-03-02", "2020-03-02"])
        #expect(rows.column("at_clock") == ["future", "plausible", "plausible"])
        let early = try Rows(.mozilla, "core", "{}", time: Timestamp(inAnyYear: -1))
        #expect(early.column("day", of: "records") == ["1969-12-31"])
        #expect(early.column("clock", of: "records") == ["before-app"])
        let untimed = try Rows(.mozilla, "focus-event", #"{"events":[[1,"a","b"]]}"#, time: nil)
        for column in ["time", "day", "clock", "at_day", "at_clock"] { #expect(untimed.column(column) == [nil]) }
        for column in ["time", "day", "clock"] { #expect(untimed.column(column, of: "records") == [nil]) }
    }

    @Test(
        "The key of a client has its ASCII letters in lowercase",
        arguments: [("ABC-é", "abc-é"), ("É", "É"), ("abc", "abc"), ("K", "k"), ("\u{212A}", "\u{212A}"), (nil, nil)])
    func clientKeys(client: String?, key: String?) throws {
        let rows = try Rows(.mozilla, "focus-event", #"{"events":[[1,"a","b"]]}"#, client: client)
        for table in ["records", "events"] {
            #expect(rows.column("client", of: table) == [client])
            #expect(rows.column("client_key", of: table) == [key])
        }
    }

    @Test(
        "The family of an operating system does not depend on its spelling",
        arguments: [
            ("iOS", "ios"), ("ios", "ios"), ("iPhone OS", "ios"), ("iPadOS", "ios"), ("tvOS", "tvos"),
            ("Android", "android"), ("Darwin", "macos"), ("Windows_NT", "other"), ("WINNT", "windows"), ("", "other"),
        ])
    func families(os: String, family: String) throws {
        let rows = try Rows(.mozilla, "core", #"{"os":"\#(os)"}"#)
        #expect(rows.column("os", of: "records") == [os])
        #expect(rows.column("os_family", of: "records") == [family])
        #expect(try Rows(.mozilla, "core", "{}").column("os_family", of: "records") == [nil])
    }

    @Test func stringsOfMetricsHaveNoQuotationMarks() throws {
        let rows = try Rows(
            .glean, "metrics",
            #"""
            {"metrics":{"counter":{"c":7},"labeled_string":{"l":{"x":"y\"z"}},"string":{"s":"plain"},\#
            "string_list":{"v":["1"]}}}
            """#)
        #expect(rows.column("value", of: "metrics") == ["7", "y\"z", "plain", #"["1"]"#])
    }

    @Test(
        arguments: [
            ("de", "de"), ("de_DE", "de-DE"), ("DE-de", "de-DE"), ("zh-hans_cn", "zh-Hans-CN"), ("es-419", "es-419"),
            ("en_US@calendar=buddhist", "en-US"), ("ca_ES.UTF-8", "ca-ES"), ("sl-rozaj-BISKE", "sl-rozaj-biske"),
            ("zh-Hant-TW_TW", "zh-Hant-TW"), ("en-u-CA-Buddhist", "en-u-ca-buddhist"),
            ("??", nil), ("", nil), ("d", nil), ("deutsch", nil), ("d1", nil), ("de-", nil), ("de--DE", nil),
            ("de_DEUTSCHLAND", nil), ("de DE", nil), ("dé", nil),
        ] as [(String, String?)])
    func localesAreNormalized(locale: String, expected: String?) throws {
        let rows = try Rows(.mozilla, "core", #"{"locale":"\#(locale)"}"#)
        #expect(rows.column("locale_normalized", of: "records") == [expected])
        #expect(rows.column("locale", of: "records") == [locale])
    }
}
