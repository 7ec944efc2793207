import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases E1 to E7 and E12 to E22 of event pings (section 6.4 of the format document).
@Suite struct EventCaseTests {
    private func expectLast(
        _ event: String, becomes written: String? = nil, notes: [String] = [], held: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(
            "focus-event", ["events": StoredJSON.events(endingIn: event)],
            becomes: ["events": StoredJSON.events(endingIn: written ?? event)], notes: notes, held: held,
            sourceLocation: sourceLocation)
    }

    @Test("E1: A ping without events is held unchanged", arguments: ["focus-event", "mobile-event"])
    func eventsMissing(type: String) throws {
        try expect(type, ["events": nil], held: ["schema"])
    }

    @Test("E1: A ping with events of another type is held", arguments: ["null", "{}", #""text""#, "3"])
    func eventsOfAnotherType(value: String) throws {
        try expect("focus-event", ["events": value], held: ["schema"])
    }

    @Test("E2: A ping with an empty list of events is held")
    func eventsEmpty() throws {
        try expect("focus-event", ["events": "[]"], held: ["too-few-events"])
    }

    @Test(
        "E2: A ping with fewer than 3 or more than 500 events is held",
        arguments: [(1, ["too-few-events"]), (2, ["too-few-events"]), (3, []), (500, []), (501, ["too-many-events"])])
    func eventCounts(count: Int, held: [String]) throws {
        let events = (0..<count).map { #"[\#($0),"action","foreground","app"]"# }
        try expect("focus-event", ["events": "[" + events.joined(separator: ",") + "]"], held: held)
    }

    @Test("E2: A ping with too few and invalid events has both holds")
    func tooFewAndMalformed() throws {
        try expect("focus-event", ["events": "[3]"], held: ["schema", "too-few-events"])
    }

    @Test("E3: A null before the extras is the documented form")
    func nullPlaceholder() throws {
        try expectLast(#"[12892,"action","background","app",null,{"orientation":"Portrait"}]"#)
    }

    @Test("E4: An empty string before the extras is kept")
    func emptyPlaceholder() throws {
        try expectLast(#"[12892,"action","background","app","",{"orientation":"Landscape"}]"#)
    }

    @Test("E5: A null instead of extras is kept")
    func nullExtras() throws {
        try expectLast(#"[12892,"action","open","menu","firefox",null]"#)
        try expectLast(#"[12892,"action","open","menu",null,null]"#)
    }

    @Test("E6: An empty value without extras is kept")
    func emptyValue() throws {
        try expectLast(#"[12892,"action","view","tab-tray",""]"#)
    }

    @Test("E7: A repeated value is removed once")
    func repeatedValue() throws {
        try expectLast(
            #"[12892,"action","change","setting","BlockAds","BlockAds",{"to":"false"}]"#,
            becomes: #"[12892,"action","change","setting","BlockAds",{"to":"false"}]"#, notes: ["E7"])
        try expectLast(
            #"[12892,"action","change","setting","Block\u0041ds","BlockAds",{"to":true}]"#,
            becomes: #"[12892,"action","change","setting","BlockAds",{"to":"true"}]"#, notes: ["E7", "E8"])
    }

    @Test(
        "E7: A ping with other events of seven elements is held",
        arguments: [
            #"[12892,"action","change","setting","BlockAds","BlockFonts",{"to":"false"}]"#,
            #"[12892,"action","change","setting","BlockAds","BlockAds","x"]"#,
            #"[12892,"action","change","setting","BlockAds","BlockAds",null]"#,
            #"[12892,"action","change","setting",null,null,{"to":"false"}]"#,
            #"[12892,"action","change","setting",1,1,{"to":"false"}]"#,
            #"[12892,"action","change","setting","a","a",{"to":"false"},null]"#,
        ])
    func sevenElements(event: String) throws {
        try expectLast(event, held: ["schema"])
    }

    @Test("E12: A slightly smaller timestamp is not noted")
    func smallStepsBack() throws {
        try expectLast(#"[9308,"action","background","app"]"#)
        try expectLast(#"[9300,"action","background","app"],[5000,"action","foreground","app"]"#)
    }

    @Test("E13: A timestamp that drops to near zero is noted with its index")
    func twoRuns() throws {
        try expectLast(#"[212,"action","foreground","app"]"#, notes: ["E13"])
        let events =
            #"[[61240,"action","background","app"],\#(StoredJSON.events(endingIn: "[4,\"a\",\"b\",\"c\"]").dropFirst())"#
        try expect("focus-event", ["events": events], notes: ["E13", "E13"])
        let text = StoredJSON.envelope("focus-event", StoredJSON.measurements("focus-event", ["events": events]))
        let notes = readPingFile(text, in: "focus-event").records.flatMap(\.notes)
        #expect(notes.map { $0.contains("events[1]") } == [true, false])
        #expect(notes.map { $0.contains("events[3]") } == [false, true])
    }

    @Test("E14: A negative timestamp is kept, and a ping with a fraction is held")
    func unusualTimestamps() throws {
        try expectLast(#"[-7,"action","background","app"]"#)
        try expectLast(#"[12892.5,"action","background","app"]"#, held: ["schema"])
        try expectLast(
            #"[12892.0,"action","background","app"]"#, becomes: #"[12892,"action","background","app"]"#, notes: ["C1"])
        try expectLast(#"[9223372036854775808,"action","background","app"]"#)
    }

    @Test(
        "E14: A timestamp of any size is kept",
        arguments: [
            ("0", ["E13"]), ("-0", ["E13"]), ("999999999999999999", []), ("1000000000000000000", []),
            ("9223372036854775807", []), ("-9223372036854775808", []), ("9999999999999999999", []),
            ("99999999999999999999", []), ("-99999999999999999999", []), ("999999999999999999999", []),
        ])
    func largeTimestamps(offset: String, notes: [String]) throws {
        try expectLast(#"[\#(offset),"action","background","app"]"#, notes: notes)
        try expectLast(#"[\#(offset),"action","background","app",null,{"a":"b"}]"#, notes: notes)
    }

    @Test("E15: Truncated words are kept")
    func truncatedWords() throws {
        try expectLast(#"[12892,"action","close","tracking_protection_"]"#)
        try expectLast(#"[12892,"action","opened_from_extensio","app","\#(String(repeating: "x", count: 80))"]"#)
        let family = String(repeating: "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}", count: 50)
        try expectLast(#"[12892,"action","change","setting","\#(family)"]"#)
    }

    @Test("E16: A ping with a date as creation time is held")
    func createdAsDate() throws {
        try expect("focus-event", ["created": #""2018-05-24""#], held: ["schema"])
    }

    @Test("E17: Only mobile-event pings need the start time of the process")
    func noProcessStart() throws {
        try expect("mobile-event", ["processStartTimestamp": nil], held: ["schema"])
        try expect("focus-event", ["processStartTimestamp": nil])
    }

    @Test(
        "E18: A ping with an invalid event is held",
        arguments: [
            #"[12892,"action","click"]"#, "[]", "{}", "null", #""text""#, #"["12892","action","click","app"]"#,
            #"[null,"action","click","app"]"#, #"[12892,7,"click","app"]"#, #"[12892,"action",null,"app"]"#,
            #"[12892,"action","click",{}]"#, #"[12892,"action","click","app",7]"#,
            #"[12892,"action","click","app",{"a":"b"}]"#, #"[12892,"action","click","app","x","y"]"#,
            #"[12892,"action","click","app","x",["y"]]"#,
        ])
    func otherTuples(event: String) throws {
        try expectLast(event, held: ["schema"])
    }

    @Test("E19: More than ten extras are kept")
    func manyExtras() throws {
        let extras = (10..<30).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
        try expectLast(#"[12892,"action","change","setting",null,{\#(extras)}]"#)
    }

    @Test("E20: openTabCount in a mobile-event ping is kept")
    func openTabCount() throws {
        try expect("mobile-event", ["openTabCount": "14"])
    }

    @Test("E21: An account id among the extras is kept")
    func accountID() throws {
        try expectLast(#"[12892,"action","show","entry_list",null,{"fxauid":"a1b2c3d4e5f6","itemid":"{x/y}"}]"#)
    }

    @Test("E22: The cases of scalar fields apply to event pings", arguments: ["focus-event", "mobile-event"])
    func scalarFields(type: String) throws {
        let client = #""4f8e2d6a-1b7c-4e39-8a50-c2d7f1b6e083""#
        try expect(
            type, ["clientId": client, "device": "null", "extra": #""x""#, "seq": "5.0", "tz": #""60""#],
            becomes: ["device": nil, "seq": "5", "tz": "60"], notes: ["C8", "C1", "C3"])
        try expect(type, ["seq": "5.5"], held: ["schema"])
        try expect(type, ["tz": "true"], held: ["schema"])
        try expect(type, ["tz": "900"], notes: ["C22"])
        try expect(type, ["clientId": #""c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0""#], notes: ["C13"])
        try expect(type, ["v": "2"])
        try expect(type, ["v": "0"], held: ["schema"])
        try expect(type, ["tz": nil, "arch": nil, "device": nil])
        for key in ["clientId", "created", "locale", "os", "osversion", "seq", "settings", "v"] {
            try expect(type, [key: nil], held: ["schema"])
        }
    }
}
