import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the values that the SDK stores (sections 3.1 and 3.2 of the format document).
@Suite struct StoredValuesTests {
    private func values(_ text: String) throws -> StoredValues {
        try StoredValues(Array(text.utf8))
    }

    @Test("The keys in preferences have the documented prefix")
    func prefix() {
        #expect(StoredValues.keyPrefix == "telemetry-key-prefix-")
    }

    @Test(
        "Counters that are not in a ping yet are reported",
        arguments: [
            (#""sessions":2"#, "sessions 2, durations 0, searches in 0 keys are in no ping yet"),
            (#""durations":611"#, "sessions 0, durations 611, searches in 0 keys are in no ping yet"),
            (#""searches":{"actionbar.Google":4}"#, "sessions 0, durations 0, searches in 1 key are in no ping yet"),
            (
                #""sessions":-1,"durations":9223372036854775807,"searches":{"a":1,"b":2}"#,
                "sessions -1, durations 9223372036854775807, searches in 2 keys are in no ping yet"
            ),
        ])
    func counters(members: String, text: String) throws {
        #expect(try values("{\(members)}").counterProblem == Problem("pending-counters", text))
    }

    @Test(
        "Counters of zero are not reported",
        arguments: [
            "{}", #"{"sessions":0,"durations":0,"searches":{}}"#,
            #"{"sessions":null,"durations":null,"searches":null}"#,
            #"{"core-seq":9}"#,
        ])
    func noCounters(text: String) throws {
        #expect(try values(text).counterProblem == nil)
    }

    @Test("A value of another type is read as absent")
    func otherTypes() throws {
        let text = #"{"clientId":7,"sessions":"2","durations":true,"searches":[1,2],"core-events":{"a":1}}"#
        let read = try values(text)
        #expect(read.clientID == nil)
        #expect(read.counterProblem == nil)
        #expect(read.pendingEvents.isEmpty)
        #expect(try values(#"{"sessions":1.5,"durations":1e400,"searches":"x"}"#).counterProblem == nil)
        #expect(try values(#"{"clientId":null}"#).clientID == nil)
    }

    @Test("The last sequence numbers and the upload counts are read, and values of another form are ignored")
    func numbers() throws {
        let read = try values(
            #"""
            {"core-seq":12,"focus-event-seq":5,"a-seq":-1,"b-seq":0,"c-seq":1.5,"d-seq":"7","e-seq":9223372036854775808,\#
            "core-dailyUploadCount":3,"core-lastUploadTimestamp":1527163209.512348,"b-dailyUploadCount":7,\#
            "b-lastUploadTimestamp":0,"c-dailyUploadCount":-1,"d-lastUploadTimestamp":1}
            """#)
        #expect(read.lastNumbers.map { "\($0.type) \($0.number)" }.sorted() == ["core 12", "focus-event 5"])
        #expect(
            read.uploadFacts.sorted() == [
                "b: daily upload count 7", "core: daily upload count 3, last upload on 2018-05-24 (UTC)",
            ])
    }

    @Test("Pending events are sorted by the names of their types")
    func pendingEvents() throws {
        let read = try values(
            """
            {"mobile-event-events":[[2,"a","b","c"]],"core-events":[],"-events":[[3,"a","b","c"]],\
            "focus-event-events":[[0,"a","b","c",null,{"x":true}],[1,"a","b","c","v","v",{"to":"x"}],7]}
            """)
        #expect(read.pendingEvents.map(\.type) == ["", "focus-event", "mobile-event"])
        let focus = try #require(read.pendingEvents.first { $0.type == "focus-event" }).events
        #expect(
            String(decoding: focus.events.jsonArray(of: 0..<focus.events.count), as: UTF8.self)
                == #"[[0,"a","b","c",null,{"x":"true"}],[1,"a","b","c","v",{"to":"x"}]]"#)
        #expect(focus.notes.map(\.code) == ["E8", "E7"])
        #expect(focus.rejects.map(\.reason.code) == ["F12"])
    }

    @Test(
        "Bytes that are not a JSON object are rejected",
        arguments: ["", "[", "null", "7", #""x""#, "[]", "[1]", "[1,2,3,4,5,6,7,8,9]"])
    func invalidRoots(text: String) {
        #expect(throws: JSONError.self) { try values(text) }
    }

    @Test("A repeated key is rejected")
    func duplicateKey() {
        #expect(throws: JSONError.self) { try values(#"{"clientId":"a","clientId":"b"}"#) }
    }
}
