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
        private let tables: [Table]

        init(
            _ system: SystemName, _ type: String, _ payload: String, for contents: ExtraContents = .remainingData,
            target: Target? = nil, held: [Hold] = [], notes: [String] = [], systems: SystemTable = Systems.table
        ) throws {
            tables = ExportTables(systems).all
            let record = Record(
                system: system, type: type, id: "1", client: "C", time: Timestamp(milliseconds: 1_583_150_400_000),
                target: target, payload: Array(payload.utf8), source: Sample.source, notes: notes, held: held)
            var line: [UInt8] = []
            let layout = record.write(to: &line)
            var batch = RecordBatch(firstNumber: 1)
            batch.add(RecordSummary(record), line: line[...], payload: line[layout.payload])
            var builder = RowBuilder(tables, systems: systems, contents)
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
