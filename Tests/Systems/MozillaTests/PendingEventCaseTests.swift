import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Cases F1 to F12 of the format document, section 4.4: what becomes of the file of pending events.
@Suite struct PendingEventCaseTests {
    private static let foreground = #"[0,"action","foreground","app"]"#
    private static let typed = #"[2147,"action","type_url","search_bar"]"#
    private static let erase = #"[2892,"action","click","erase_button"]"#
    private static let menu = "[4010,\"action\",\"open\",\"menu\",\"a\\/b \u{1F98A}\"]"
    private static let menuWritten = "[4010,\"action\",\"open\",\"menu\",\"a/b \u{1F98A}\"]"
    private static let broken = #"[4010,"action","change","setting","BlockAds",{"to":"fal"#

    private func expect(
        _ text: String, events: [String], notes: [String] = [], refused: [Refused] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(Array(text.utf8), events: events, notes: notes, refused: refused, sourceLocation: sourceLocation)
    }

    private func expect(
        _ bytes: [UInt8], events: [String], notes: [String] = [], refused: [Refused] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var file = PendingEventFile(bytes)
        let pending = file.read()
        #expect(pending.events.count == events.count, sourceLocation: sourceLocation)
        let array = String(decoding: pending.events.array(0..<pending.events.count), as: UTF8.self)
        #expect(array == "[" + events.joined(separator: ",") + "]", sourceLocation: sourceLocation)
        #expect(pending.notes.map(\.code) == notes, sourceLocation: sourceLocation)
        #expect(pending.rejects.map(Refused.init) == refused, sourceLocation: sourceLocation)
    }

    @Test("F0 an intact file is read in order, whatever separates its events")
    func intact() {
        let events = [Self.foreground, Self.typed, Self.erase]
        for separator in [",\n", ",", " , \n", ",\n\n"] {
            expect(events.joined(separator: separator), events: events)
        }
    }

    @Test("F1 an empty file holds nothing", arguments: ["", " ", "\n", "\r\n\t"])
    func emptyFile(text: String) {
        expect(text, events: [])
    }

    @Test("F2 a separator at the start is skipped")
    func leadingSeparator() {
        expect(",\n\(Self.foreground),\n\(Self.menu)", events: [Self.foreground, Self.menuWritten])
        expect(",\(Self.foreground)", events: [Self.foreground])
    }

    @Test("F3 a separator at the end is skipped")
    func trailingSeparator() {
        expect("\(Self.foreground),\n\(Self.typed),", events: [Self.foreground, Self.typed])
        expect("\(Self.foreground),\n\(Self.typed),\n", events: [Self.foreground, Self.typed])
    }

    @Test("F4 wherever the file is cut, whole events before it are kept and the rest is refused")
    func cutAnywhere() {
        // A comma at the end of what is left is taken for a separator.
        func length(_ part: ArraySlice<UInt8>) -> Int { part.last == UInt8(ascii: ",") ? part.count - 1 : part.count }
        let whole = Array("\(Self.foreground),\n\(Self.broken)".utf8)
        let start = Self.foreground.utf8.count + 2
        for count in (start + 1)...whole.count {
            expect(
                Array(whole[..<count]), events: [Self.foreground],
                refused: [Refused("F4", at: start, length: length(whole[start..<count]))])
        }
        for count in 1..<(start - 2) {
            expect(Array(whole[..<count]), events: [], refused: [Refused("F4", at: 0, length: length(whole[..<count]))])
        }
    }

    @Test("F5 a broken event inside costs only itself")
    func brokenInside() {
        expect(
            "\(Self.foreground),\n\(Self.broken),\n\(Self.erase),\n\(Self.menu)",
            events: [Self.foreground, Self.erase, Self.menuWritten],
            refused: [Refused("F5", at: 33, length: Self.broken.utf8.count)])
        expect(
            "\(Self.broken),\nx,\n\(Self.erase)", events: [Self.erase],
            refused: [Refused("F5", at: 0, length: 55), Refused("F5", at: 57, length: 1)])
    }

    @Test("F6 two separators in a row are skipped")
    func twoSeparators() {
        expect("\(Self.foreground),\n,\n\(Self.erase),\n,,\n", events: [Self.foreground, Self.erase])
    }

    @Test("F7 two events without a separator are both kept")
    func noSeparator() {
        expect("\(Self.foreground)\(Self.typed)", events: [Self.foreground, Self.typed], notes: ["F7"])
        expect(
            "\(Self.foreground)\(Self.typed)\(Self.erase),\n\(Self.erase)",
            events: [Self.foreground, Self.typed, Self.erase, Self.erase], notes: ["F7"])
        expect("\(Self.foreground) \(Self.typed)", events: [Self.foreground, Self.typed], notes: ["F7"])
    }

    @Test("F8 a cut inside a character costs only the last event", arguments: 1...3)
    func cutInCharacter(kept: Int) {
        let event = Array("[5120,\"action\",\"open\",\"menu\",\"".utf8) + Array("\u{1F98A}".utf8.prefix(kept))
        let text = "\(Self.foreground),\n\(Self.menu),\n"
        expect(
            Array(text.utf8) + event, events: [Self.foreground, Self.menuWritten],
            refused: [Refused("F8", at: text.utf8.count, length: event.count)])
    }

    @Test("F8 bytes that are no UTF-8 elsewhere are refused as broken")
    func invalidInside() {
        let event = Array("[5120,\"action\",\"op".utf8) + [0xFF] + Array("en\",\"menu\"]".utf8)
        expect(
            event + Array(",\n\(Self.erase)".utf8), events: [Self.erase],
            refused: [Refused("F5", at: 0, length: event.count)])
        expect(event, events: [], refused: [Refused("F4", at: 0, length: event.count)])
        let atEnd = Array("[5120,\"action\",\"open\",\"".utf8) + [0xFF, 0x22, 0x5D]
        expect(atEnd, events: [], refused: [Refused("F4", at: 0, length: atEnd.count)])
    }

    @Test("F9 carriage returns mean nothing")
    func carriageReturns() {
        expect(
            "\(Self.foreground),\r\n\(Self.typed),\r\n\(Self.erase)\r\n",
            events: [Self.foreground, Self.typed, Self.erase])
    }

    @Test("F10 a line with NUL bytes is refused, the next one read")
    func nulBytes() {
        let zeros = String(repeating: "\0", count: 16)
        expect(
            "\(Self.foreground),\n[99,\"action\",\"cl\0\0\0\n\(Self.typed),\n\(zeros)",
            events: [Self.foreground, Self.typed],
            refused: [Refused("F10", at: 33, length: 19), Refused("F10", at: 94, length: 16)])
        expect("\(Self.foreground)\(zeros)", events: [Self.foreground], refused: [Refused("F10", at: 31, length: 16)])
    }

    @Test("F11 brackets around the whole file are seen through")
    func inBrackets() {
        let events = [Self.foreground, Self.menu, Self.erase]
        let written = [Self.foreground, Self.menuWritten, Self.erase]
        expect("[" + events.joined(separator: ",\n") + "]", events: written, notes: ["F11"])
        expect(" [\n" + events.joined(separator: ", ") + "\n]\n", events: written, notes: ["F11"])
    }

    @Test("F11 what is broken inside brackets costs only itself")
    func brokenInBrackets() {
        expect(
            "[\(Self.foreground),\n\(Self.broken),\n\(Self.erase)]", events: [Self.foreground, Self.erase],
            notes: ["F11"], refused: [Refused("F5", at: 34, length: 55)])
        expect(
            "[\(Self.foreground),\n{\"a\":1}]", events: [Self.foreground], notes: ["F11"],
            refused: [Refused("F12", at: 34, length: 7)])
        expect(
            "[\(Self.foreground),\n\(Self.broken)", events: [Self.foreground], notes: ["F11"],
            refused: [Refused("F4", at: 34, length: 55)])
    }

    @Test(
        "F12 JSON that is no event is refused",
        arguments: [
            #"{"a":1}"#, #""text""#, "42", "null", "[]", "[1]", #"[1,"a","b"]"#, #"["1","a","b","c"]"#,
            #"[1,"a","b",null]"#, #"[1,2,3,4]"#, #"{"a":1,"b":"x","c":"y","d":"z"}"#,
        ])
    func noTuple(value: String) {
        expect(
            "\(Self.foreground),\n\(value),\n\(Self.erase)", events: [Self.foreground, Self.erase],
            refused: [Refused("F12", at: 33, length: value.utf8.count)])
    }

    @Test("F12 an event of odd parts is kept, for nothing of it is uploaded")
    func oddEvent() {
        let event = #"[1,"a","b","c",7,{"x":[]}]"#
        expect("\(event),\n\(Self.erase)", events: [event, Self.erase], notes: ["schema", "schema"])
        expect(
            #"[1.0,"a","b","c",null,{"x":true}]"#, events: [#"[1,"a","b","c",null,{"x":"true"}]"#], notes: ["C1", "E8"])
    }

    @Test("a bracket or a line feed inside a string is no separator")
    func stringContents() {
        let event = #"[1,"a","][","\n,"]"#
        expect("\(event),\n\(event)", events: [event, event])
    }

    @Test("nesting beyond the limit is refused without harm")
    func deepNesting() {
        let deep = String(repeating: "[", count: 100_000)
        expect(
            "\(Self.foreground),\n\(deep),\n\(Self.erase)", events: [Self.foreground, Self.erase],
            refused: [Refused("F5", at: 33, length: 100_000)])
    }
}
