import JSONText
import Telemetry
import Testing

@testable import Glean

@Suite struct GleanSchemaTests {
    private static let client = #"""
        "client_info":{"app_build":"1","app_display_version":"2","architecture":"a","first_run_date":"d","os":"iOS",\#
        "os_version":"18","telemetry_sdk_build":"66.3.0"}
        """#
    private static let ping = #""ping_info":{"end_time":"e","seq":0,"start_time":"s"}"#

    private func check(_ body: String, needsInfo: Bool = true) throws -> PayloadCheck {
        GleanSchema.check(try JSONDocument(Array(body.utf8)), needsInfo: needsInfo)
    }

    private func faults(ofMetrics metrics: String) throws -> [String] {
        try check("{\(Self.client),\(Self.ping),\"metrics\":{\(metrics)}}").findings.faults
    }

    @Test("client_info and ping_info are required unless the third line states otherwise")
    func requiredSections()
        throws
    {
        #expect(try check("{}").findings.faults == ["client_info missing", "ping_info missing"])
        #expect(try check("{}", needsInfo: false).findings.faults.isEmpty)
        let half = try check("{\"client_info\":{},\(Self.ping)}", needsInfo: false).findings.faults
        #expect(half.count == 7 && half[0] == "client_info.app_build missing")
    }

    @Test(
        "Metrics that the server accepts have no faults",
        arguments: [
            #""boolean":{"a.b":true}"#, #""counter":{"a_b":-3}"#, #""quantity":{"a.b":123456789012345678901234567890}"#,
            #""string":{"_b":""}"#, #""string_list":{"a.b":["x"]}"#, #""url":{"a.b":"about:home"}"#,
            #""url":{"a.b":"x-y+z.1:"}"#, #""uuid":{"a.b":"0B9C7A5E-6D21-4F7B-8F0C-3E1D2A4B5C60"}"#,
            #""object":{"a.b":[1,{"c":null}]}"#, #""timespan":{"a.b":{"time_unit":"day","value":1}}"#,
            #""rate":{"a.b":{"denominator":0,"numerator":1}}"#, #""text":{"a.b":"ä"}"#, #""jwe":{"a.b":"x"}"#,
            #""timing_distribution":{"a.b":{"sum":3,"values":{"1":2}}}"#,
            #""memory_distribution":{"a.b":{"values":{}}}"#, #""custom_distribution":{"a.b":{"sum":0,"values":{}}}"#,
            #""labeled_boolean":{"a.b":{"":false}}"#, #""labeled_counter":{"a.b":{"x y":1}}"#,
            #""labeled_string":{"a.b":{"x":"y"}}"#, #""dual_labeled_counter":{"a.b":{"x":{"y":1}}}"#,
            #""labeled_timing_distribution":{"a.b":{"x":{"values":{}}}}"#, #""datetime":{"a.b":"when"}"#,
        ])
    func validMetrics(metrics: String) throws {
        #expect(try faults(ofMetrics: metrics) == [])
        #expect(try check("{\"metrics\":{\(metrics)}}", needsInfo: false).unknownCount == 0)
    }

    @Test(
        "Metrics that the server rejects have one fault",
        arguments: [
            (#""counter":3"#, "metrics.counter: no object"),
            (#""counter":{"a.b":"3"}"#, "metrics.counter.a.b: no integer"),
            (#""counter":{"a.b":1e3}"#, "metrics.counter.a.b: no integer"),
            (#""counter":{"a.b":3.0}"#, "metrics.counter.a.b: no integer"),
            (#""counter":{"a":1}"#, "metrics.counter.a: not the name of a metric"),
            (#""string":{"Not A Name":"x"}"#, "metrics.string.Not A Name: not the name of a metric"),
            (#""boolean":{"a.b":1}"#, "metrics.boolean.a.b: no boolean"),
            (#""labeled_counter":{"a.b":{"x":null}}"#, "metrics.labeled_counter.a.b.x: no integer"),
            (#""timespan":{"a.b":{"value":3}}"#, "metrics.timespan.a.b.time_unit missing"),
            (#""timespan":{"a.b":{"time_unit":"week","value":3}}"#, "metrics.timespan.a.b.time_unit: no unit of time"),
            (#""string_list":{"a.b":["x",1]}"#, "metrics.string_list.a.b[1]: no string"),
            (#""timing_distribution":{"a.b":{"sum":3}}"#, "metrics.timing_distribution.a.b.values missing"),
            (#""custom_distribution":{"a.b":{"values":{}}}"#, "metrics.custom_distribution.a.b.sum missing"),
            (
                #""memory_distribution":{"a.b":{"values":{"x":1}}}"#,
                "metrics.memory_distribution.a.b.values.x: not the name of a bucket"
            ),
            (#""uuid":{"a.b":"x"}"#, "metrics.uuid.a.b: no UUID"),
            (#""rate":{"a.b":{"denominator":-1,"numerator":1}}"#, "metrics.rate.a.b.denominator: less than 0"),
            (#""url":{"a.b":"no scheme"}"#, "metrics.url.a.b: no URL"),
            (#""url":{"a.b":"data:,x"}"#, "metrics.url.a.b: no URL"),
            (#""url":{"a.b":"1:x"}"#, "metrics.url.a.b: no URL"),
            (#""object":{"a.b":"text"}"#, "metrics.object.a.b: neither object nor array"),
        ])
    func invalidMetrics(metrics: String, fault: String) throws {
        #expect(try faults(ofMetrics: metrics) == [fault])
    }

    @Test(
        "Length limits count characters instead of bytes",
        arguments: [(#""ping_info":{"end_time":"","reason":"R","seq":0,"start_time":""}"#, 30)])
    func lengthLimits(section: String, limit: Int) throws {
        for (count, isValid) in [(limit, true), (limit + 1, false)] {
            let body = "{\(section.replacing("R", with: String(repeating: "ä", count: count)))}"
            #expect(try check(body, needsInfo: false).findings.faults.isEmpty == isValid)
        }
    }

    private static let events: [(String, String?)] = [
        (#"{"category":"a","name":"b","timestamp":0}"#, nil),
        (#"{"category":"a","extra":{"k":"v"},"name":"b","timestamp":18446744073709551615}"#, nil),
        (#"[0,"a","b","c"]"#, "events[0]: no object"), (#"{"category":"a","timestamp":0}"#, "events[0].name missing"),
        (#"{"category":"a","name":"b","timestamp":-1}"#, "events[0].timestamp: less than 0"),
        (#"{"category":"a","name":"b","timestamp":-99999999999999999999}"#, "events[0].timestamp: less than 0"),
        (#"{"category":"a","extra":{"k":3},"name":"b","timestamp":0}"#, "events[0].extra.k: no string"),
        (
            #"{"category":"a","name":"b","session":{"event_seq":0,"session_id":"x","session_sample_rate":1.5,"#
                + #""session_seq":1},"timestamp":0}"#,
            "events[0].session.session_sample_rate: no number from 0 to 1"
        ),
    ]

    @Test("Events are checked against the schema", arguments: events)
    func eventFaults(event: String, fault: String?) throws {
        #expect(try check("{\"events\":[\(event)]}", needsInfo: false).findings.faults == [fault].compactMap(\.self))
    }

    @Test("Unknown keys are listed and are not faults")
    func unknownKeys() throws {
        let body =
            #"{"metrics":{"future":{"a.b":1}},"ping_info":{"end_time":"","new":1,"seq":0,"start_time":""},"zzz":1}"#
        let found = try check(body, needsInfo: false)
        #expect(found.findings.faults.isEmpty)
        #expect(found.unknownKeys == ["metrics.future", "ping_info.new", "zzz"])
    }

    @Test("The number of reported faults and unknown keys is limited")
    func manyFaults() throws {
        let metrics = (0..<100_000).map { "\"a.b\($0)\":null" }.joined(separator: ",")
        let unknown = (0..<1000).map { "\"k\($0)\":null" }.joined(separator: ",")
        let found = try check("{\"metrics\":{\"counter\":{\(metrics)}},\(unknown)}", needsInfo: false)
        #expect(found.findings.faults.count == 8)
        #expect(found.unknownKeys.count == 8)
    }
}
