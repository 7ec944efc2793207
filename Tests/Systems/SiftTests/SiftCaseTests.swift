import Telemetry
import TestSupport
import Testing

@testable import Sift

/// Tests the cases in sections 6, 9 and 10 of "Sift iOS SDK: on-disk store, list request".
@Suite struct SiftCaseTests {
    private func state(_ members: KeyValuePairs<String, Archived>) -> SiftReading {
        SiftReading(queue: [.event(1, ["iosAppState": .object(members)])])
    }

    @Test(
        "Values of an app state are written as canonical JSON",
        arguments: [
            (Archived.text("a"), #""a""#), (.mutable("b"), #""b""#), (.text("\"\\/\u{1}é👩"), #""\"\\/\u0001é👩""#),
            (.integer(-1), "-1"), (.unsigned(.max), "18446744073709551615"), (.integer(.min), "-9223372036854775808"),
            (.real("1.0"), "1"), (.real("-0.0"), "0"), (.real("1e21"), "1e+21"), (.real("5e-324"), "5e-324"),
            (.real("0.1"), "0.1"), (.real("123456789.5"), "123456789.5"), (.real("1e-7"), "1e-7"),
            (.real("0.00001"), "0.00001"), (.real("-1e20"), "-100000000000000000000"),
            (.real("-1.7976931348623157e308"), "-1.7976931348623157e+308"), (.boolean(true), "true"), (.null, "null"),
            (.list([.integer(1), .list([])]), "[1,[]]"),
            (.object(["b": .null, "a": .object([:])]), #"{"a":{},"b":null}"#),
        ])
    func values(value: Archived, text: String) {
        #expect(state(["v": value]).data == #"{"ios_app_state":{"v":\#(text)},"time":1}"#)
    }

    @Test(
        "Only the value without a JSON form is removed",
        arguments: [
            (Archived.real("nan"), "not-finite 2 values removed (first: event 0, ios_app_state)"),
            (.real("-inf"), "not-finite 2 values removed (first: event 0, ios_app_state)"),
            (.date, "unknown-class 2 values without a JSON form removed (first: event 0, ios_app_state)"),
            (.data, "unknown-class 2 values without a JSON form removed (first: event 0, ios_app_state)"),
            (
                .instance("Evil", [("x", .reference(.text("p")))]),
                "unknown-class 2 values without a JSON form removed (first: event 0, ios_app_state)"
            ),
        ])
    func unrepresentable(value: Archived, note: String) {
        let read = state(["a": value, "b": .list([.integer(1), value, .integer(2)]), "c": .integer(3)])
        #expect(read.data == #"{"ios_app_state":{"b":[1,2],"c":3},"time":1}"#)
        #expect(read.records.map(\.notes) == [[note]])
        #expect(read.rejects.isEmpty)
    }

    @Test("Keys are in the order of their UTF-8 bytes, and repeated keys are removed")
    func keyOrder() {
        let read = SiftReading(queue: [
            .event(
                1,
                [
                    "iosAppState": .dictionary([
                        (.text("é"), .integer(1)), (.text("b"), .integer(2)), (.text("a"), .integer(3)),
                        (.mutable("b"), .integer(4)), (.integer(5), .integer(6)), (.text("aa"), .integer(7)),
                        (.text("B"), .integer(8)),
                    ])
                ])
        ])
        #expect(read.data == #"{"ios_app_state":{"B":8,"a":3,"aa":7,"b":2,"é":1},"time":1}"#)
        #expect(
            read.records[0].notes == [
                "non-string-key 1 entry removed whose key is no text (event 0, ios_app_state)",
                "duplicate-key 1 entry removed whose key came before (event 0, ios_app_state)",
            ])
    }

    @Test("Many different keys and long keys are in order too", arguments: [30, 3000])
    func manyKeys(count: Int) {
        let names = (0..<count).map { "k\($0 * 7919 % count)" } + [String(repeating: "x", count: 300)]
        let read = SiftReading(queue: [
            .event(1, ["iosAppState": .dictionary(names.map { (.text($0), .boolean(true)) })])
        ])
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let members = sorted.map { #""\#($0)":true"# }.joined(separator: ",")
        #expect(read.data == #"{"ios_app_state":{\#(members)},"time":1}"#)
        #expect(read.records.map(\.notes) == [[]])
    }

    @Test("Keys that are added to the table later do not change the order")
    func lateKeys() {
        let inner = Archived.object(["m": .integer(1), "a": .integer(2)])
        let read = state(["z": inner, "n": .object(["b": .integer(3), "0": .integer(4)])])
        #expect(read.data == #"{"ios_app_state":{"n":{"0":4,"b":3},"z":{"a":2,"m":1}},"time":1}"#)
    }

    @Test(
        "Strings that are nil or empty are omitted",
        arguments: [(Archived.none, ""), (.text(""), ""), (.mutable(""), ""), (.text(" "), #""path":" ","#)])
    func strings(value: Archived, member: String) {
        #expect(SiftReading(queue: [.event(1, ["path": value])]).data == "{\(member)\"time\":1}")
    }

    @Test(
        "An event that the SDK itself would reject is omitted",
        arguments: [
            ("type", Archived.integer(7)), ("path", .null), ("userId", .list([])), ("installationId", .object([:])),
            ("type", .date), ("fields", .text("x")), ("fields", .list([.text("a")])), ("metrics", .null),
            ("deviceProperties", .object(["a": .boolean(true)])), ("fields", .object(["a": .none])),
            ("fields", .dictionary([(.null, .text("a"))])), ("metrics", .object(["a": .object([:])])),
        ])
    func skipped(member: String, value: Archived) {
        let event = Archived.instance(
            "SiftEvent", [("time", .inline("<integer>2</integer>")), (member, .reference(value))])
        let read = SiftReading(queue: [.event(1), event, .event(3)])
        #expect(read.data == #"{"time":1},{"time":3}"#)
        #expect(read.codes == ["event-skipped"])
        #expect(read.rejects.map(\.reason) == ["event-skipped 1 left out"])
        #expect(read.records[0].notes.map { $0.prefix(30) } == ["event-skipped 1 event left out"])
        #expect(read.report.parts[0].events?["skipped"] == 1)
    }

    @Test(
        "Only the element that is not an event is omitted",
        arguments: [
            Archived.none, .null, .text("x"), .list([]), .object([:]), .instance("EvilEvent", []), .integer(1),
        ])
    func wrongClass(element: Archived) {
        let read = SiftReading(queue: [.event(1), element, .event(3)])
        #expect(read.data == #"{"time":1},{"time":3}"#)
        #expect(read.codes == ["wrong-class"])
        #expect(read.report.parts[0].events?["lost"] == 1)
    }

    @Test(
        "Times that are not integers are converted",
        arguments: [
            ("<real>1.9</real>", "1"), ("<real>-1.9</real>", "18446744073709551615"), ("<true/>", "1"),
            ("<false/>", "0"), ("<integer>18446744073709551615</integer>", "18446744073709551615"),
            ("<real>1e19</real>", "10000000000000000000"),
        ])
    func times(stored: String, time: String) {
        let read = SiftReading(queue: [.instance("SiftEvent", [("time", .inline(stored))])])
        #expect(read.data == #"{"time":\#(time)}"#)
    }

    @Test(
        "An event whose time is not a number is omitted",
        arguments: ["<string>1</string>", "<real>nan</real>", "<real>1e20</real>"])
    func badTimes(stored: String) {
        let read = SiftReading(queue: [.instance("SiftEvent", [("time", .inline(stored))])])
        #expect(read.records.isEmpty)
        #expect(read.codes == ["bad-value"])
        #expect(read.problems.allSatisfy { $0.text.hasSuffix(" at byte \($0.offset ?? -1)") })
    }

    @Test("Absent members are read as nil, and an absent time as 0")
    func absentMembers() {
        let read = SiftReading(queue: [.instance("SFEvent", [])])
        #expect(read.data == #"{"time":0}"#)
        #expect(read.records[0].time?.description == "1970-01-01T00:00:00.000Z")
    }

    @Test("A wrapper of nil is an empty dictionary, and a wrapper of another type is an error")
    func wrappers() {
        func wrapped(_ name: String, _ key: String, _ value: Archived) -> Archived {
            .event(1, ["iosDeviceProperties": .instance(name, [(key, .reference(value))])])
        }
        for name in ["SiftHtDictionary", "SFHtDictionary"] {
            #expect(
                SiftReading(queue: [wrapped(name, "entries", .none)]).data
                    == #"{"ios_device_properties":{},"time":1}"#)
        }
        let properties = SiftReading(queue: [
            wrapped("SFIosDeviceProperties", "properties", .object(["a": .integer(1)]))
        ])
        #expect(properties.data == #"{"ios_device_properties":{"a":1},"time":1}"#)
        let wrong = SiftReading(queue: [wrapped("SiftHtDictionary", "entries", .list([]))])
        #expect(wrong.codes == ["wrong-class"])
    }

    @Test(
        "A file whose root is not a queue is rejected",
        arguments: [
            Archived.list([]), .event(1), .object([:]), .object(["queue": .text("q")]), .object(["queue": .none]),
        ])
    func wrongRoot(root: Archived) {
        let read = SiftReading([(.queue(identifier: "q"), SiftArchiveBuilder.archive(root))])
        #expect(read.records.isEmpty)
        #expect(read.rejects.map { $0.reason.prefix { $0 != " " } } == ["wrong-root"])
        #expect(read.report.parts.isEmpty)
    }

    @Test(
        "A file that is not an archive is rejected",
        arguments: [
            ("", "empty"), ("note\n", "not-plist"), ("bplist00", "truncated"), ("\0\0\0\0", "not-plist"),
            ("<plist version=\"1.0\"><dict/></plist>", "not-keyed-archive"),
        ])
    func invalidArchives(text: String, code: String) {
        let read = SiftReading([(.queue(identifier: "q"), Array(text.utf8))])
        #expect(read.rejects.map { $0.reason.prefix { $0 != " " } } == [code[...]])
    }

    @Test("Only the batch that is not an array is omitted")
    func wrongBatch() {
        let root = Archived.object([
            "batches": .list([.list([.event(1)]), .text("x"), .list([.event(2)]), .list([])]),
            "numRejects": .text("many"),
        ])
        let read = SiftReading([(.uploader, SiftArchiveBuilder.archive(root))])
        #expect(read.payloads == [#"{"data":[{"time":1}]}"#, #"{"data":[{"time":2}]}"#])
        #expect(read.records.map(\.source.index) == [0, 2])
        #expect(read.codes == ["bad-value", "wrong-class"] || read.codes == ["wrong-class", "bad-value"])
        #expect(read.rejects.count == 1)
    }

    @Test("A large event that is listed two thousand times is rejected before it is written")
    func sharedEvent() {
        let state = Archived.object(["v": .list((0..<1000).map { .integer($0) })])
        let event = Archived.shared("e", .event(1, ["iosAppState": state]))
        let read = SiftReading(queue: Array(repeating: event, count: 2000))
        #expect(read.records.isEmpty)
        #expect(read.rejects.map { $0.reason.prefix { $0 != " " } } == ["budget-exceeded"])
    }

    @Test("An event that repeats a long string too often is omitted")
    func sharedString() {
        let text = Archived.shared("t", .text(String(repeating: "x", count: 1 << 16)))
        let read = SiftReading(queue: [
            .event(1, ["iosAppState": .object(["a": .list(Array(repeating: text, count: 300))])]), .event(2),
        ])
        #expect(read.data == #"{"time":2}"#)
        #expect(read.codes == ["budget-exceeded"])
    }
}
