import Bytes
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Export

/// The rows of one record, whose time is 2020-03-02T12:00:00.000Z.
private struct Rows {
    private let buffer: RowBuffer
    private let tables: [Table]

    init(
        _ system: SystemName, _ type: String, _ payload: String, for contents: ExtraContents = .remainingData,
        client: String? = "C", time: Timestamp? = Timestamp(milliseconds: 1_583_150_400_000),
        target: Target? = nil, held: [Hold] = [], notes: [String] = [], systems: SystemTable = Systems.table
    ) throws {
        tables = ExportTables(systems).all
        let record = Record(
            system: system, type: type, id: "1", client: client, time: time,
            target: target, payload: Array(payload.utf8), source: Sample.source, notes: notes, held: held)
        var line: [UInt8] = []
        let layout = record.write(to: &line)
        var batch = RecordBatch(firstNumber: 1)
        batch.add(RecordSummary(record), line: line[...], payload: line[layout.payload])
        var builder = RowBuilder(tables, systems: systems, contents)
        _ = try builder.buildRows(of: batch)
        buffer = builder.rows.buffer
    }

    /// Returns the values in the given columns of each row.
    func columns(_ names: String..., of table: String = "events") -> [[String?]] {
        let columns = names.map { column($0, of: table) }
        return (columns.first ?? []).indices.map { row in columns.map { $0[row] } }
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

/// Tests of the rows of events, and of their times in particular.
@Suite struct EventRowTests {
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
        "Events of Glean SDKs before 36.0 on iOS have timestamps in nanoseconds, which are converted",
        arguments: [
            ("iOS", "35.0.1", true), ("iOS", "36.0.0", false), ("Android", "35.0.1", false), ("iOS", "unknown", false),
        ])
    func nanoseconds(os: String, version: String, areConverted: Bool) throws {
        let rows = try Rows(
            .glean, "events",
            #"""
            {"client_info":{"os":"\#(os)","telemetry_sdk_build":"\#(version)"},"events":[{"timestamp":1500999999},\#
            {"timestamp":999999},{"timestamp":-1},{"timestamp":"1500999999"}],\#
            "ping_info":{"start_time":"2020-03-02T12:10+01:00"}}
            """#)
        let time = "2020-03-02T12:00:00.000Z"
        if areConverted {
            #expect(rows.column("elapsed_ms") == ["1500", "0", "-1", nil])
            #expect(
                rows.column("at") == ["2020-03-02T11:10:01.500Z", "2020-03-02T11:10:00.000Z", time, time])
            #expect(rows.column("at_ms").first == "1583147401500")
        } else {
            #expect(rows.column("elapsed_ms") == ["1500999999", "999999", "-1", nil])
            #expect(
                rows.column("at") == ["2020-03-19T20:06:39.999Z", "2020-03-02T11:26:39.999Z", time, time])
        }
        #expect(rows.column("at_basis") == ["ping-start", "ping-start", "record", "record"])
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

    /// The columns `label`, `second_label`, `number` and `unit` of the metrics of a payload without definitions.
    @Test(
        arguments: [
            (#""counter":{"a.b":7}"#, ["- - 7 -"]), (#""quantity":{"a.b":-7}"#, ["- - -7 -"]),
            (#""counter":{"a.b":"7","a.c":null,"a.d":[7]}"#, ["- - - -", "- - - -", "- - - -"]),
            (#""counter":{"a.b":9223372036854775807}"#, ["- - 9223372036854775807 -"]),
            (#""counter":{"a.b":1e999}"#, ["- - - -"]), (#""counter":7"#, ["- - - -"]),
            (#""timespan":{"a.b":{"time_unit":"second","value":3}}"#, ["- - 3 second"]),
            (#""timespan":{"a.b":{"value":3},"a.c":3}"#, ["- - 3 -", "- - - -"]),
            (#""rate":{"a.b":{"denominator":8,"numerator":1}}"#, ["- - 0.125 -"]),
            (#""rate":{"a.b":{"denominator":0,"numerator":1},"a.c":{"numerator":1}}"#, ["- - - -", "- - - -"]),
            (#""timing_distribution":{"a.b":{"sum":12,"values":{"1":2}}}"#, ["- - 12 nanosecond"]),
            (#""timing_distribution":{"a.b":{"values":{}}}"#, ["- - - -"]),
            (#""timing_distribution":{"a.b":{"sum":1,"time_unit":"second"}}"#, ["- - 1 second"]),
            (#""memory_distribution":{"a.b":{"sum":12,"values":{}}}"#, ["- - 12 byte"]),
            (#""custom_distribution":{"a.b":{"sum":12,"values":{}}}"#, ["- - 12 -"]),
            (#""boolean":{"a.b":true},"string":{"a.b":"7"},"new":{"a.b":7}"#, ["- - - -", "- - - -", "- - - -"]),
            (
                #""labeled_counter":{"a.b":{"x":1,"y":2},"a.c":{},"a.d":3}"#,
                ["x - 1 -", "y - 2 -", "- - - -", "- - - -"]
            ),
            (#""labeled_quantity":{"a.b":{"x":1}}"#, ["x - 1 -"]),
            (#""labeled_timing_distribution":{"a.b":{"x":{"sum":1,"values":{}}}}"#, ["x - 1 nanosecond"]),
            (#""labeled_memory_distribution":{"a.b":{"x":{"sum":1,"values":{}}}}"#, ["x - 1 byte"]),
            (#""labeled_rate":{"a.b":{"x":{"denominator":4,"numerator":2}}}"#, ["x - 0.5 -"]),
            (#""labeled_string":{"a.b":{"x":"1"}}"#, ["x - - -"]),
            (
                #""dual_labeled_counter":{"a.b":{"x":{"p":1,"q":2},"y":{"p":3}},"a.c":{"x":{}},"a.d":{"x":4}}"#,
                ["x p 1 -", "x q 2 -", "y p 3 -", "x - - -", "x - - -"]
            ),
        ])
    func metricsHaveNumbersAndUnits(metrics: String, expected: [String]) throws {
        #expect(try Self.metricRows(of: metrics, Systems.table) == expected)
    }

    private static func metricRows(of metrics: String, _ systems: SystemTable) throws -> [String] {
        let rows = try Rows(.glean, "metrics", "{\"metrics\":{\(metrics)}}", systems: systems)
        let columns = ["label", "second_label", "number", "unit"].map { rows.column($0, of: "metrics") }
        return columns[0].indices.map { row in columns.map { $0[row] ?? "-" }.joined(separator: " ") }
    }

    @Test func definitionsDetermineUnitsAndLabels() throws {
        var definitions = EventDefinitions()
        let file = #"""
            {"a.b":{"type":"quantity","unit":"tabs","description":"The tabs. All."},\#
            "a.c":{"type":"timespan","time_unit":"hour","description":"No full stop"},\#
            "a.d":{"type":"custom_distribution","unit":"percent"},"a.e":{"type":"event","description":"It\nhappened."},\#
            "a.f":{"type":"timing_distribution","time_unit":"millisecond","unit":"x"},\#
            "glean.restarted":{"type":"event","description":"Other."}}
            """#
        #expect(try definitions.read(Array(file.utf8)) == [])
        let systems = Systems.table(with: definitions)
        let metrics = #"""
            "custom_distribution":{"a.d":{"sum":1,"values":{}}},"labeled_quantity":{"a.b":{"x":2}},"quantity":{"a.b":3,"z":4},\#
            "timespan":{"a.c":{"value":5}},"timing_distribution":{"a.f":{"sum":6,"values":{}}}
            """#
        #expect(
            try Self.metricRows(of: metrics, systems) == [
                "- - 1 percent", "x - 2 tabs", "- - 3 tabs", "- - 4 -", "- - 5 hour", "- - 6 nanosecond",
            ])
        let rows = try Rows(
            .glean, "events",
            #"""
            {"events":[{"category":"a","name":"e","timestamp":0},{"category":"a","name":"x","timestamp":0},\#
            {"category":"glean","name":"restarted","timestamp":0}],"metrics":{\#(metrics)}}
            """#, systems: systems)
        #expect(rows.column("label") == ["It happened", nil, "App started again"])
        #expect(
            rows.column("description", of: "metrics") == [nil, "The tabs", "The tabs", nil, "No full stop", nil])
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

/// Tests of the columns with the documented values of events, states and attributes.
///
/// A value of another type is not in its column, but remains in `extra` or `state`.
@Suite struct ValueColumnTests {
    // MARK: Leanplum

    private static func leanplum(_ members: String, for contents: ExtraContents = .remainingData) throws -> Rows {
        try Rows(.leanplum, "multi", #"{"data":[{"deviceId":"C","userId":"u",\#(members)}]}"#, for: contents)
    }

    @Test(
        "The value of a request is a number, and revenue if it has a currency",
        arguments: [
            (#""value":"0.000000""#, "0.000000", nil, nil),
            (#""value":"12.5","currencyCode":"EUR""#, "12.5", "12.5", "EUR"),
            (#""value":-1.5e3,"currencyCode":"EUR""#, "-1.5e3", "-1.5e3", "EUR"),
            (#""currencyCode":"EUR""#, nil, nil, "EUR"),
            (#""value":"1e400","currencyCode":"EUR""#, nil, nil, "EUR"), (#""value":"inf""#, nil, nil, nil),
            (#""value":1e400"#, nil, nil, nil), (#""value":"much""#, nil, nil, nil),
            (#""value":{"a":1}"#, nil, nil, nil),
            (#""value":[1],"currencyCode":7"#, nil, nil, nil), (#""value":null"#, nil, nil, nil),
            (#""value":"""#, nil, nil, nil),
        ] as [(String, String?, String?, String?)])
    func leanplumValue(members: String, value: String?, revenue: String?, currency: String?) throws {
        let rows = try Self.leanplum(#""action":"track","event":"e",\#(members)"#)
        #expect(rows.columns("value", "revenue", "currency") == [[value, revenue, currency]])
        // A value without a column is in `extra`.
        let extra = try #require(rows.column("extra").first)
        #expect((extra?.contains(#""value":"#) ?? false) == (members.contains("value") && value == nil))
        #expect(
            (extra?.contains(#""currencyCode":"#) ?? false) == (members.contains("currencyCode") && currency == nil))
    }

    @Test(
        "The parameters are the members of `extra`, and all other data is in the member `request`",
        arguments: [
            (#""params":"{\"z\":1,\"Source\":\"Menu\"}""#, #"{"Source":"Menu","request":{"reqId":"r"},"z":1}"#),
            (#""info":"i","messageId":"5""#, #"{"request":{"info":"i","messageId":"5","reqId":"r"}}"#),
            (#""params":{"a":[]}"#, #"{"a":[],"request":{"reqId":"r"}}"#),
            (#""params":"{}""#, #"{"request":{"reqId":"r"}}"#),
            (#""params":null"#, #"{"request":{"params":null,"reqId":"r"}}"#),
            (#""params":"{no""#, #"{"params":"{no","request":{"reqId":"r"}}"#),
            (#""params":"[1]""#, #"{"params":[1],"request":{"reqId":"r"}}"#),
            (#""params":"null""#, #"{"params":null,"request":{"reqId":"r"}}"#),
            (#""params":7"#, #"{"params":7,"request":{"reqId":"r"}}"#),
            (#""params":"{\"request\":1}""#, #"{"params":{"request":1},"request":{"reqId":"r"}}"#),
            (#""params":"{\"params\":1}""#, #"{"params":{"params":1},"request":{"reqId":"r"}}"#),
            (#""params":"{\"a\":\"\\ud800\"}""#, #"{"a":"\ud800","request":{"reqId":"r"}}"#),
            (#""deviceId":"D","time":"soon""#, #"{"request":{"deviceId":"D","reqId":"r","time":"soon"}}"#),
            (#""event":7,"state":"s","userId":7"#, #"{"request":{"event":7,"reqId":"r","state":"s","userId":7}}"#),
            (#""time":"1.497595093902E9""#, #"{"request":{"reqId":"r"}}"#),
        ])
    func leanplumExtra(members: String, extra: String) throws {
        // Later members replace those of the same name.
        let repeated = ["deviceId", "userId", "event"].filter { members.contains("\"\($0)\"") }
        let known = [("deviceId", #""C""#), ("userId", #""u""#), ("event", #""e""#)].filter { !repeated.contains($0.0) }
        let own = known.map { "\"\($0.0)\":\($0.1)," }.joined()
        let rows = try Rows(
            .leanplum, "multi", #"{"data":[{\#(own)"action":"track","reqId":"r",\#(members)}]}"#)
        #expect(rows.column("extra") == [extra])
    }

    @Test(
        "A time can have an exponent",
        arguments: [
            ("1.497595093902E9", "2017-06-16T06:38:13.902Z"), ("1497595093.902999", "2017-06-16T06:38:13.902Z"),
            ("14975950939029e-4", "2017-06-16T06:38:13.902Z"), ("1e400", nil), ("1.E9", nil), ("-1E9", nil), ("", nil),
        ] as [(String, String?)])
    func leanplumTime(text: String, time: String?) throws {
        let rows = try Self.leanplum(#""action":"stop","time":"\#(text)""#)
        #expect(rows.column("time") == [time ?? "2020-03-02T12:00:00.000Z"])
        #expect(rows.column("time_basis") == [time == nil ? "record" : "event"])
        let sift = try Rows(.sift, "mobile_events", #"{"data":[{"time":1.497595093902E12},{"time":1.5}]}"#)
        #expect(sift.column("time") == ["2017-06-16T06:38:13.902Z", "2020-03-02T12:00:00.000Z"])
    }

    @Test func attributesOfUsersAndDevicesHaveRows() throws {
        let payload = #"""
            {"data":[{"action":"stop"},{"action":"start","deviceName":"n","userAttributes":"{\"x\":null,\"Focus Installed\":true,\#
            \"a\":[1],\"o\":{},\"s\":\"t\",\"z\":1.50}"},{"action":"setDeviceAttributes","deviceId":"C","iosPushTypes":7,\#
            "reqId":"r","custom":"c"},{"action":"start","userAttributes":"{}"},{"action":"start","userAttributes":{"a":1}}]}
            """#
        let rows = try Rows(.leanplum, "multi", payload)
        #expect(
            rows.columns("n", "event", "kind", "key", "value", "value_type", "label", of: "attributes") == [
                ["0", "1", "user", "Focus Installed", "true", "boolean", "Focus is installed"],
                ["1", "1", "user", "a", "[1]", "array", nil], ["2", "1", "user", "o", "{}", "object", nil],
                ["3", "1", "user", "s", "t", "string", nil], ["4", "1", "user", "x", nil, "null", nil],
                ["5", "1", "user", "z", "1.50", "number", nil], ["6", "2", "device", "custom", "c", "string", nil],
                [
                    "7", "2", "device", "iosPushTypes", "7", "number",
                    "the allowed types of push notifications, as a bit mask",
                ],
            ])
        #expect(
            rows.column("extra") == [
                nil, #"{"request":{"deviceName":"n"}}"#, #"{"request":{"reqId":"r"}}"#,
                #"{"request":{"userAttributes":"{}"}}"#, #"{"request":{"userAttributes":{"a":1}}}"#,
            ])
        // A timeline has no table of attributes.
        let timeline = try Rows(.leanplum, "multi", payload, for: .allTables)
        #expect(
            timeline.column("extra")[2] == #"{"request":{"custom":"c","iosPushTypes":7,"reqId":"r"}}"#)
        #expect(timeline.column("extra")[1]?.contains("Focus Installed") == true)
    }

    @Test("Rows grow with the number of members, and no member is lost")
    func growth() throws {
        try expectLinearGrowth(of: "attributes", from: 100) { count in
            let members = (0..<count).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
            let rows = try Rows(
                .leanplum, "multi",
                #"{"data":[{"action":"setDeviceAttributes",\#(members)},{"action":"x",\#(members)}]}"#)
            let keys = rows.column("key", of: "attributes")
            #expect(keys.count == count)
            let extra = rows.column("extra")
            #expect(extra[0] == nil && extra[1]?.split(separator: ",").count == count)
            return keys.count + (extra[1]?.utf8.count ?? 0)
        }
    }

    // MARK: Activity Stream

    @Test func sessionsHaveANameAndADuration() throws {
        let type = "activity-stream-mobile-sessions"
        let rows = try Rows(
            .activityStream, type,
            #"""
            {"batch-mode":true,"payloads":[{"build":"1","session_duration":4217},{"session_duration":1497595093902},\#
            {"session_duration":"7"},{"session_duration":7.5},{"session_duration":1e400},{"event":"e","session_duration":7}]}
            """#)
        #expect(
            rows.columns("name", "session_duration", "extra") == [
                ["session", "4217", #"{"build":"1"}"#], ["session", "1497595093902", nil],
                ["session", nil, #"{"session_duration":"7"}"#], ["session", nil, #"{"session_duration":7.5}"#],
                ["session", nil, #"{"session_duration":1e400}"#], ["e", "7", nil],
            ])
        #expect(rows.column("label").first == "New Tab panel shown for a while")
        let event = try Rows(.activityStream, "activity-stream-mobile-events", #"{"page":"p"}"#)
        #expect(event.columns("name", "value", "session_duration") == [[nil, "p", nil]])
    }

    // MARK: Sift

    private static let state = #"""
        {"application_state":"active","battery_level":0.5,"battery_state":"full","device_orientation":"face_up",\#
        "heading":{"accuracy":5,"magnetic_heading":1.5,"raw_magnetic_field_x":-1,"raw_magnetic_field_y":2,\#
        "raw_magnetic_field_z":3,"time":1583150399123,"true_heading":2.5},"location":{"altitude":34.5,"course":90,"floor":-2,\#
        "horizontal_accuracy":65,"latitude":52.5,"longitude":13.4,"speed":1.25,"time":1583150399124,"vertical_accuracy":10},\#
        "network_addresses":["10.0.0.1"],"proximity_state":false,"sdk_version":"v2.2.5","window_root_view_controller_titles":["a"]}
        """#

    @Test func statesHaveAColumnForEachEntry() throws {
        let rows = try Rows(.sift, "mobile_events", #"{"data":[{"ios_app_state":\#(Self.state)}]}"#)
        func values(_ columns: String...) -> [String?] { columns.flatMap { rows.column($0, of: "sift_states") } }
        #expect(values("n", "kind", "latitude", "longitude", "altitude") == ["0", "app_state", "52.5", "13.4", "34.5"])
        #expect(
            values(
                "application_state", "battery_level", "battery_state", "device_orientation", "proximity_state",
                "sdk_version")
                == ["active", "0.5", "full", "face_up", "0", "v2.2.5"])
        #expect(values("network_addresses", "window_root_view_controller_titles") == [#"["10.0.0.1"]"#, #"["a"]"#])
        #expect(
            values(
                "course", "floor", "horizontal_accuracy", "vertical_accuracy", "speed", "location_time",
                "location_time_ms")
                == ["90", "-2", "65", "10", "1.25", "2020-03-02T11:59:59.124Z", "1583150399124"])
        #expect(
            values("heading_accuracy", "magnetic_heading", "true_heading", "heading_time", "heading_time_ms")
                == ["5", "1.5", "2.5", "2020-03-02T11:59:59.123Z", "1583150399123"])
        #expect(values("raw_magnetic_field_x", "raw_magnetic_field_y", "raw_magnetic_field_z") == ["-1", "2", "3"])
        #expect(values("state") == [Self.state] && values("device_name") == [nil])
    }

    @Test("A value of another type is only in `state`")
    func hostileStates() throws {
        let states = [
            #"{"battery_level":"0.5","heading":[],"location":7,"network_addresses":"10.0.0.1","proximity_state":0,"sdk_version":2}"#,
            #"{"battery_level":1e400,"location":{"floor":1.5,"latitude":{"a":1},"longitude":[1],"time":1e400}}"#,
            #"{"location":{"time":253402300800000}}"#, "7", "[]",
        ]
        let events = states.map { #"{"ios_app_state":\#($0)}"# }.joined(separator: ",")
        let rows = try Rows(.sift, "mobile_events", #"{"data":[\#(events)]}"#)
        #expect(rows.column("state", of: "sift_states") == states)
        for name in [
            "battery_level", "network_addresses", "proximity_state", "sdk_version", "latitude", "longitude", "floor",
            "location_time", "heading_time",
        ] {
            #expect(rows.column(name, of: "sift_states") == Array(repeating: nil, count: states.count), "\(name)")
        }
        // The column contains the number even if it is not a time.
        #expect(rows.column("location_time_ms", of: "sift_states") == [nil, nil, "253402300800000", nil, nil])
    }

    @Test("Early device properties fill the same columns as current ones")
    func deviceProperties() throws {
        let current = #"""
            {"app_name":"Shop","cpu_64bit_capable":true,"cpu_family":-1829029944,"device_hardware_machine":"iPhone9,3",\#
            "device_memory_size":1050804224,"device_name":"Phone","device_screen_width":640,"evidence_files_present":["/bin/sh","/x"],\#
            "is_simulator":false,"mobile_carrier_name":"Carrier"}
            """#
        let early = #"""
            {"carrier_name":"Carrier","hw.cpu64bit_capable":"1","hw.cpufamily":"2465937352","hw.machine":"iPhone9,3",\#
            "hw_memsize":"1050804224","kern.hostid":"x","name":"Phone","screen_width":"640","suspicious_file.0":"/bin/sh",\#
            "suspicious_file.10":"/y","suspicious_file.2":"/x","suspicious_file.x":"/z"}
            """#
        let rows = try Rows(
            .sift, "mobile_events",
            #"{"data":[{"ios_device_properties":\#(current)},{"device_properties":\#(early)},{"device_properties":7}]}"#
        )
        #expect(
            rows.columns(
                "kind", "cpu_64bit_capable", "device_hardware_machine", "device_memory_size", "device_name",
                "device_screen_width", "mobile_carrier_name", of: "sift_states")
                == Array(
                    repeating: ["device_properties", "1", "iPhone9,3", "1050804224", "Phone", "640", "Carrier"],
                    count: 2))
        #expect(
            rows.columns("cpu_family", "evidence_files_present", "app_name", "is_simulator", of: "sift_states") == [
                ["-1829029944", #"["/bin/sh","/x"]"#, "Shop", "0"],
                ["2465937352", #"["/bin/sh","/x","/y"]"#, nil, nil],
            ])
        #expect(rows.column("device_host_id", of: "sift_states") == [nil, nil])
        #expect(rows.column("state", of: "sift_states") == [current, early])
        #expect(rows.column("extra")[1] == #"{"device_properties":\#(early)}"#)
    }

    @Test func locationsInTheFieldsOfEarlyEventsHaveRows() throws {
        let fields = #"""
            {"device_heading_magnetic_field_x":"-12.5","device_heading_time":"1583150399123","device_location_floor":"2",\#
            "device_location_lat":"52.520008","device_location_lng":"x","device_location_time":"1583150399123.456","sku":"A"}
            """#
        let rows = try Rows(
            .sift, "mobile_events",
            #"{"data":[{"fields":{"sku":"A"}},{"fields":\#(fields)},{"fields":{"device_location_lat":1}}]}"#)
        #expect(
            rows.columns(
                "n", "kind", "latitude", "longitude", "floor", "location_time_ms", "heading_time",
                "raw_magnetic_field_x",
                "state", of: "sift_states") == [
                    [
                        "1", "event_fields", "52.520008", nil, "2", "1583150399123", "2020-03-02T11:59:59.123Z",
                        "-12.5",
                        fields,
                    ]
                ])
    }

    @Test func readingsHaveRows() throws {
        let motion = #"""
            {"attitude_roll":0.5,"gravity_z":-1,"magnetic_field_calibration_accuracy":"high","magnetic_field_y":2,\#
            "rotation_rate_x":0.25,"time":1583150399123,"user_acceleration_x":3}
            """#
        let rows = try Rows(
            .sift, "mobile_events",
            #"""
            {"data":[{"ios_app_state":{"motion":7}},{"ios_app_state":{"motion":[\#(motion),7,{"gravity_z":"1","time":"1"}],\#
            "raw_accelerometer":[{"acceleration_x":1,"acceleration_y":2,"acceleration_z":3,"time":-1}],"raw_gyro":\#
            [{"rotation_rate_x":1e400,"rotation_rate_y":0.5}],"raw_magnetometer":[{"magnetic_field_z":40.25}]}}]}
            """#)
        #expect(
            rows.columns("n", "event", "kind", "time", "time_ms", "x", "y", "z", of: "sift_readings") == [
                ["0", "1", "motion", "2020-03-02T11:59:59.123Z", "1583150399123", nil, nil, nil],
                ["1", "1", "motion", nil, nil, nil, nil, nil],
                ["2", "1", "raw_accelerometer", nil, "-1", "1", "2", "3"],
                ["3", "1", "raw_gyro", nil, nil, nil, "0.5", nil],
                ["4", "1", "raw_magnetometer", nil, nil, nil, nil, "40.25"],
            ])
        #expect(
            rows.columns(
                "attitude_roll", "gravity_z", "magnetic_field_calibration_accuracy", "magnetic_field_y",
                "rotation_rate_x",
                "user_acceleration_x", of: "sift_readings"
            ).prefix(2) == [
                ["0.5", "-1", "high", "2", "0.25", "3"], [nil, nil, nil, nil, nil, nil],
            ])
        #expect(rows.column("state", of: "sift_states").count == 2)
    }
}
