import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases F1 to F13 of files with pending events (section 4.4 of the format document).
@Suite struct PendingEventCaseTests {
    private static let foreground = #"[0,"action","foreground","app"]"#
    private static let typed = #"[2147,"action","type_url","search_bar"]"#
    private static let erase = #"[2892,"action","click","erase_button"]"#
    private static let menu = "[4010,\"action\",\"open\",\"menu\",\"a\\/b \u{1F98A}\"]"
    private static let menuWritten = "[4010,\"action\",\"open\",\"menu\",\"a/b \u{1F98A}\"]"
    private static let broken = #"[4010,"action","change","setting","BlockAds",{"to":"fal"#

    private func expect(
        _ text: String, events: [String], notes: [String] = [], rejected: [RejectSummary] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(Array(text.utf8), events: events, notes: notes, rejected: rejected, sourceLocation: sourceLocation)
    }

    private func expect(
        _ bytes: [UInt8], events: [String], notes: [String] = [], rejected: [RejectSummary] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var file = PendingEventFile(bytes)
        let pending = file.read()
        #expect(pending.events.count == events.count, sourceLocation: sourceLocation)
        let array = String(decoding: pending.events.jsonArray(of: 0..<pending.events.count), as: UTF8.self)
        #expect(array == "[" + events.joined(separator: ",") + "]", sourceLocation: sourceLocation)
        #expect(pending.notes.map(\.code) == notes, sourceLocation: sourceLocation)
        #expect(pending.rejects.map(RejectSummary.init) == rejected, sourceLocation: sourceLocation)
    }

    @Test("F0: The events of an intact file are read in order, with any separators")
    func intact() {
        let events = [Self.foreground, Self.typed, Self.erase]
        for separator in [",\n", ",", " , \n", ",\n\n"] {
            expect(events.joined(separator: separator), events: events)
        }
    }

    @Test("F13: A byte order mark is ignored, and other encodings are named")
    func byteOrderMark() {
        expect("\u{FEFF}\(Self.foreground),\n\(Self.typed)", events: [Self.foreground, Self.typed], notes: ["F13"])
        let wide: [UInt8] = [0xFF, 0xFE] + Self.foreground.utf8.flatMap { [$0, 0] as [UInt8] }
        expect(wide, events: [], rejected: [RejectSummary("F13")])
    }

    @Test("F1: An empty file contains no events", arguments: ["", " ", "\n", "\r\n\t"])
    func emptyFile(text: String) {
        expect(text, events: [])
    }

    @Test("F2: A separator at the start is skipped")
    func leadingSeparator() {
        expect(",\n\(Self.foreground),\n\(Self.menu)", events: [Self.foreground, Self.menuWritten])
        expect(",\(Self.foreground)", events: [Self.foreground])
    }

    @Test("F3: A separator at the end is skipped")
    func trailingSeparator() {
        expect("\(Self.foreground),\n\(Self.typed),", events: [Self.foreground, Self.typed])
        expect("\(Self.foreground),\n\(Self.typed),\n", events: [Self.foreground, Self.typed])
    }

    @Test("F4: A truncated event is rejected, and complete events before it are read")
    func truncatedEvents() {
        // A comma at the end of the truncated file is treated as a separator.
        func length(_ part: ArraySlice<UInt8>) -> Int { part.last == UInt8(ascii: ",") ? part.count - 1 : part.count }
        let whole = Array("\(Self.foreground),\n\(Self.broken)".utf8)
        let start = Self.foreground.utf8.count + 2
        for count in (start + 1)...whole.count {
            expect(
                Array(whole[..<count]), events: [Self.foreground],
                rejected: [RejectSummary("F4", at: start, length: length(whole[start..<count]))])
        }
        for count in 1..<(start - 2) {
            expect(
                Array(whole[..<count]), events: [],
                rejected: [RejectSummary("F4", at: 0, length: length(whole[..<count]))])
        }
    }

    @Test("F5: Only the invalid event is rejected")
    func invalidEventInside() {
        expect(
            "\(Self.foreground),\n\(Self.broken),\n\(Self.erase),\n\(Self.menu)",
            events: [Self.foreground, Self.erase, Self.menuWritten],
            rejected: [RejectSummary("F5", at: 33, length: Self.broken.utf8.count)])
        expect(
            "\(Self.broken),\nx,\n\(Self.erase)", events: [Self.erase],
            rejected: [RejectSummary("F5", at: 0, length: 55), RejectSummary("F5", at: 57, length: 1)])
    }

    @Test("F6: Two consecutive separators are skipped")
    func twoSeparators() {
        expect("\(Self.foreground),\n,\n\(Self.erase),\n,,\n", events: [Self.foreground, Self.erase])
    }

    @Test("F7: Two events without a separator are both read")
    func noSeparator() {
        expect("\(Self.foreground)\(Self.typed)", events: [Self.foreground, Self.typed], notes: ["F7"])
        expect(
            "\(Self.foreground)\(Self.typed)\(Self.erase),\n\(Self.erase)",
            events: [Self.foreground, Self.typed, Self.erase, Self.erase], notes: ["F7"])
        expect("\(Self.foreground) \(Self.typed)", events: [Self.foreground, Self.typed], notes: ["F7"])
    }

    @Test("F8: Only the last event is rejected if the file is truncated inside a character", arguments: 1...3)
    func truncatedCharacter(kept: Int) {
        let event = Array("[5120,\"action\",\"open\",\"menu\",\"".utf8) + Array("\u{1F98A}".utf8.prefix(kept))
        let text = "\(Self.foreground),\n\(Self.menu),\n"
        expect(
            Array(text.utf8) + event, events: [Self.foreground, Self.menuWritten],
            rejected: [RejectSummary("F8", at: text.utf8.count, length: event.count)])
    }

    @Test("F8: An event with invalid UTF-8 is rejected")
    func invalidUTF8() {
        let event = Array("[5120,\"action\",\"op".utf8) + [0xFF] + Array("en\",\"menu\"]".utf8)
        expect(
            event + Array(",\n\(Self.erase)".utf8), events: [Self.erase],
            rejected: [RejectSummary("F5", at: 0, length: event.count)])
        expect(event, events: [], rejected: [RejectSummary("F4", at: 0, length: event.count)])
        let atEnd = Array("[5120,\"action\",\"open\",\"".utf8) + [0xFF, 0x22, 0x5D]
        expect(atEnd, events: [], rejected: [RejectSummary("F4", at: 0, length: atEnd.count)])
    }

    @Test("F9: Carriage returns are ignored")
    func carriageReturns() {
        expect(
            "\(Self.foreground),\r\n\(Self.typed),\r\n\(Self.erase)\r\n",
            events: [Self.foreground, Self.typed, Self.erase])
    }

    @Test("F10: A line with NUL bytes is rejected, and the next line is read")
    func nulBytes() {
        let zeros = String(repeating: "\0", count: 16)
        expect(
            "\(Self.foreground),\n[99,\"action\",\"cl\0\0\0\n\(Self.typed),\n\(zeros)",
            events: [Self.foreground, Self.typed],
            rejected: [RejectSummary("F10", at: 33, length: 19), RejectSummary("F10", at: 94, length: 16)])
        expect(
            "\(Self.foreground)\(zeros)", events: [Self.foreground],
            rejected: [RejectSummary("F10", at: 31, length: 16)])
    }

    @Test("F11: Brackets around the whole file are ignored")
    func enclosingBrackets() {
        let events = [Self.foreground, Self.menu, Self.erase]
        let written = [Self.foreground, Self.menuWritten, Self.erase]
        expect("[" + events.joined(separator: ",\n") + "]", events: written, notes: ["F11"])
        expect(" [\n" + events.joined(separator: ", ") + "\n]\n", events: written, notes: ["F11"])
    }

    @Test("F11: Only the invalid event inside brackets is rejected")
    func invalidEventInBrackets() {
        expect(
            "[\(Self.foreground),\n\(Self.broken),\n\(Self.erase)]", events: [Self.foreground, Self.erase],
            notes: ["F11"], rejected: [RejectSummary("F5", at: 34, length: 55)])
        expect(
            "[\(Self.foreground),\n{\"a\":1}]", events: [Self.foreground], notes: ["F11"],
            rejected: [RejectSummary("F12", at: 34, length: 7)])
        expect(
            "[\(Self.foreground),\n\(Self.broken)", events: [Self.foreground], notes: ["F11"],
            rejected: [RejectSummary("F4", at: 34, length: 55)])
    }

    @Test(
        "F12: JSON that is not an event is rejected",
        arguments: [
            #"{"a":1}"#, #""text""#, "42", "null", "[]", "[1]", #"[1,"a","b"]"#, #"["1","a","b","c"]"#,
            #"[1,"a","b",null]"#, #"[1,2,3,4]"#, #"{"a":1,"b":"x","c":"y","d":"z"}"#,
        ])
    func invalidTuples(value: String) {
        expect(
            "\(Self.foreground),\n\(value),\n\(Self.erase)", events: [Self.foreground, Self.erase],
            rejected: [RejectSummary("F12", at: 33, length: value.utf8.count)])
    }

    @Test("F12: An event with unusual elements is read, because it is not uploaded")
    func unusualEvent() {
        let event = #"[1,"a","b","c",7,{"x":[]}]"#
        expect("\(event),\n\(Self.erase)", events: [event, Self.erase], notes: ["schema", "schema"])
        expect(
            #"[1.0,"a","b","c",null,{"x":true}]"#, events: [#"[1,"a","b","c",null,{"x":"true"}]"#], notes: ["C1", "E8"])
    }

    @Test("Brackets and escaped line feeds in a string are not separators")
    func stringContents() {
        let event = #"[1,"a","][","\n,"]"#
        expect("\(event),\n\(event)", events: [event, event])
    }

    @Test("Excessive nesting is rejected")
    func deepNesting() {
        let deep = String(repeating: "[", count: 100_000)
        expect(
            "\(Self.foreground),\n\(deep),\n\(Self.erase)", events: [Self.foreground, Self.erase],
            rejected: [RejectSummary("F5", at: 33, length: 100_000)])
    }
}
