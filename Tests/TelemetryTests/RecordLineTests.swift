import JSONText
import Mozilla
import TestSupport
import Testing

@testable import Telemetry

/// Tests writing records as lines and reading them back.
@Suite struct RecordLineTests {
    private static let full = #"""
        {"app":{"build":"2","channel":"release","id":"org.mozilla.ios.Focus","name":"Focus","version":"5.0"},\#
        "client":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","held":["no-target","schema: seq missing; v is a boolean"],\#
        "id":"0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11","notes":["C8 searches: null removed","P13 \"x\": left out"],\#
        "payload":{"a":[1,2.50,null,true],"b":{"é":"/"}},"source":{"capture":"night 1","index":3,\#
        "path":"Documents/MozTelemetry-Default-core/-t-1.json","store":"mozilla-ping-file"},"system":"mozilla",\#
        "target":{"method":"POST","path":"/submit/telemetry/a/b/c/d/e/f?v=4"},"time":"2018-05-24T12:00:08.418Z",\#
        "type":"core"}
        """#

    private static let sparse = #"""
        {"app":null,"client":null,"held":[],"id":"x","notes":[],"payload":{},"source":{"capture":"","index":0,\#
        "path":"","store":"mozilla-values"},"system":"mozilla","target":null,"time":null,"type":""}
        """#

    private static let fullRecord = Record(
        system: .mozilla, type: "core", id: "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B11",
        client: "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083", time: Timestamp(milliseconds: 1_527_163_208_418),
        app: App(id: "org.mozilla.ios.Focus", name: "Focus", version: "5.0", channel: "release", build: "2"),
        target: Target(path: "/submit/telemetry/a/b/c/d/e/f?v=4", method: "POST"),
        payload: Array(#"{"a":[1,2.50,null,true],"b":{"é":"/"}}"#.utf8),
        source: Source(
            capture: "night 1", path: "Documents/MozTelemetry-Default-core/-t-1.json", store: .mozillaPingFile,
            index: 3),
        notes: ["C8 searches: null removed", #"P13 "x": left out"#],
        held: [.noTarget, Hold("schema", "seq missing; v is a boolean")])

    private static let sparseRecord = Record(
        system: .mozilla, type: "", id: "x", payload: Array("{}".utf8),
        source: Source(capture: "", path: "", store: .mozillaValues, index: 0))

    private func read(_ line: String) throws -> Record {
        var document = JSONDocument()
        return try Record(line: Array(line.utf8), using: &document)
    }

    @Test("A record is written with all keys and read back.")
    func roundTrip() throws {
        for (line, record) in [(Self.full, Self.fullRecord), (Self.sparse, Self.sparseRecord)] {
            var output = Array("before".utf8)
            let written = record.write(to: &output)
            #expect(String(decoding: output, as: UTF8.self) == "before\(line)\n")
            #expect(Array(output[written.payload]) == record.payload)
            #expect(try read(line) == record)
        }
    }

    @Test("A document can be reused for several lines.")
    func documentIsReused() throws {
        var document = JSONDocument()
        for line in [Self.full, Self.sparse, Self.full] {
            #expect(try Record(line: Array(line.utf8), using: &document) == (try read(line)))
            #expect(throws: RecordError.self) { try Record(line: Array("{".utf8), using: &document) }
        }
    }

    @Test("All names of systems and stores are read.")
    func names() throws {
        for name in ["mozilla", "sift", "leanplum", "activity-stream", "adjust"] {
            let line = Self.sparse.replacing(#""system":"mozilla""#, with: "\"system\":\"\(name)\"")
            #expect(try read(line).system.description == name)
        }
        for name in [
            "mozilla-ping-file", "mozilla-ping-array", "mozilla-pending-events", "mozilla-defaults", "mozilla-values",
        ] {
            #expect(try read(Self.sparse.replacing("mozilla-values", with: name)).source.store.description == name)
        }
    }

    @Test("An app has only the keys of its known properties.")
    func partlyKnownApp() throws {
        let line = Self.sparse.replacing(#""app":null"#, with: #""app":{"id":"x"}"#)
        #expect(try read(line).app == App(id: "x"))
        #expect(App() == nil)
    }

    @Test(
        "A line without one of the keys is rejected.",
        arguments: [
            "app", "client", "held", "id", "notes", "payload", "source", "system", "target", "time", "type", "capture",
            "index", "path", "store",
        ])
    func missingKey(key: String) {
        let line = Self.sparse.replacing("\"\(key)\":", with: "\"x\(key)\":")
        #expect(line != Self.sparse)
        #expect(throws: RecordError("\(key) missing")) { try read(line) }
    }

    @Test(
        "A line that is not in canonical form is rejected.",
        arguments: [
            (#"{"app""#, #"{ "app""#), (#"{"app""#, #"{"a":1,"app""#), (#""type":"core"}"#, #""type":"core","z":1}"#),
            (#""type":"core"}"#, #""type":"core"} "#), (#""type":"core"}"#, #""type":"core"}{}"#),
            (#""type":"core"}"#, "\"type\":\"core\"}\n"), (#""type":"core"}"#, #""type":"core""#),
            (#""index":3"#, #""index":3,"line":1"#), (#""version":"5.0"}"#, #""version":"5.0","vendor":"x"}"#),
            (#"?v=4"}"#, #"?v=4","query":"x"}"#), (#""notes":["#, #""notes": ["#),
            (#""payload":{"a""#, #""payload":{ "a""#), (#""time":"2018-05-24T12:00:08.418Z""#, #""time":"2018-05-24""#),
            ("08.418Z", "08.4180Z"), ("08.418Z", "08.418+00:00"), ("night 1", #"n\u0069ght 1"#),
            (#"/submit"#, #"\/submit"#),
            (#""index":3"#, #""index":3.0"#), (#""index":3"#, #""index":03"#), (#""index":3"#, #""index":-0"#),
            (#""index":3"#, #""index":99999999999999999999"#), (#""index":3"#, #""index":"3""#),
            (#""method":"POST","#, #""method":null,"#), (#""channel":"release","#, #""channel":null,"#),
            ("no-target\"", "no-target:\""), ("schema: seq", "schema:seq"), ("night 1", #"\ud800"#),
            ("seq missing", #"seq \udc00"#), (#""method":"POST","#, #""headers":{},"method":"POST","#),
            (#""method":"POST","#, #""headers":{"X":"\ud800"},"method":"POST","#),
        ])
    func otherForm(part: String, replacement: String) {
        let line = Self.full.replacing(part, with: replacement, maxReplacements: 1)
        #expect(line != Self.full)
        #expect(throws: RecordError.self) { try read(line) }
    }

    @Test("Keys in another order and repeated keys are rejected.")
    func otherOrder() {
        let first = #"{"app":null,"client":null,"#
        #expect(Self.sparse.hasPrefix(first))
        for start in [#"{"client":null,"app":null,"#, #"{"app":null,"app":null,"client":null,"#] {
            #expect(throws: RecordError.self) { try read(start + Self.sparse.dropFirst(first.utf8.count)) }
        }
        let source = Self.sparse.replacing(#""capture":"","index":0"#, with: #""index":0,"capture":"""#)
        #expect(source != Self.sparse)
        #expect(throws: RecordError.self) { try read(source) }
    }

    @Test(
        "A value of another type is rejected.",
        arguments: [
            (#""app":null"#, ["7", #""x""#, "[]", "{}", "true", #"{"name":7}"#, #"{"name":null}"#]),
            (#""client":null"#, ["7", "[]", "{}", "false"]),
            (#""held":[]"#, ["null", "{}", #""schema""#, "[7]", "[null]"]),
            (#""id":"x""#, ["null", "7", "[]"]), (#""notes":[]"#, ["null", "{}", #""x""#, "[[]]"]),
            (#""payload":{}"#, ["null", "[]", #""x""#, "7"]),
            (#""store":"mozilla-values""#, ["null", #""x""#, #""mozilla""#]),
            (#""system":"mozilla""#, ["null", #""Mozilla""#, #""""#, "7"]),
            (#""target":null"#, ["7", "[]", "{}", #""/x""#, #"{"path":null}"#, #"{"method":"POST"}"#]),
            (#""time":null"#, ["7", #""""#, #""yesterday""#, "{}"]), (#""type":"""#, ["null", "7"]),
            (#""index":0"#, ["null", #""0""#, "0.5", "[]"]), (#""capture":"""#, ["null", "7"]),
        ])
    func otherType(member: String, values: [String]) throws {
        let key = try #require(member.firstIndex(of: ":"))
        for value in values {
            let line = Self.sparse.replacing(member, with: "\(member[...key])\(value)")
            #expect(line != Self.sparse)
            #expect(throws: RecordError.self, "\(line)") { try read(line) }
        }
    }

    @Test("A line with a malformed app does not affect the following lines.")
    func malformedApp() throws {
        var memory = RecordMemory()
        for app in ["{}", #"{"id":"x","vendor":"y"}"#, #"{"name":7}"#] {
            let full = Array(Self.full.utf8)
            #expect(try Record(lineAt: full.indices, of: full, using: &memory) == Self.fullRecord)
            let malformed = Array(Self.sparse.replacing(#""app":null"#, with: "\"app\":\(app)").utf8)
            #expect(throws: RecordError.self) {
                try Record(lineAt: malformed.indices, of: malformed, using: &memory)
            }
        }
    }

    @Test("A line is read as a range of a larger text.")
    func lineInLargerText() throws {
        let lines = [Self.full, Self.sparse, Self.full]
        let text = Array(lines.map { $0 + "\n" }.joined().utf8)
        var memory = RecordMemory()
        var start = 0
        for line in lines {
            let range = start..<start + line.utf8.count
            #expect(try Record(lineAt: range, of: text, using: &memory) == (try read(line)))
            for other in [range.lowerBound..<range.upperBound + 1, range.lowerBound..<range.upperBound - 1] {
                #expect(throws: RecordError.self) { try Record(lineAt: other, of: text, using: &memory) }
            }
            start = range.upperBound + 1
        }
        #expect(memory.document.kind(of: memory.document.root) == .null)
    }

    @Test("Sharing strings with the previous line does not change a record.")
    func linesShareStrings() throws {
        let lines = [
            Self.full, Self.sparse, Self.full, Self.full.replacing(#""client":""#, with: #""client":"x"#),
            Self.full.replacing(#""version":"5.0""#, with: #""version":"5.1""#), Self.full,
        ]
        var memory = RecordMemory()
        for first in lines {
            for second in lines {
                for line in [first, second] {
                    let bytes = Array(line.utf8)
                    let record = try Record(lineAt: bytes.indices, of: bytes, using: &memory)
                    var written: [UInt8] = []
                    record.write(to: &written)
                    #expect(record == (try read(line)))
                    #expect(written.dropLast() == bytes[...])
                }
            }
        }
    }

    @Test("The offset in an error is relative to the start of the line.")
    func offsetOfError() {
        let text = Array("{}\n[1 2]\n".utf8)
        var memory = RecordMemory()
        #expect(throws: RecordError("no JSON: unexpected byte at byte 3")) {
            try Record(lineAt: 3..<8, of: text, using: &memory)
        }
    }

    @Test(
        "A line that is not an object is rejected.",
        arguments: ["", "null", "[]", #""x""#, "{}", "\u{FEFF}{}", "{\"app\":"])
    func notAnObject(line: String) {
        #expect(throws: RecordError.self) { try read(line) }
    }

    @Test("A payload can have 512 levels.")
    func depth() throws {
        func line(_ levels: Int) -> String {
            let deep = String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1)
            return Self.sparse.replacing(#""payload":{}"#, with: #""payload":{"a":\#(deep)}"#)
        }
        #expect(try read(line(512)).payload.count == 6 + 2 * 511)
        #expect(throws: RecordError.self) { try read(line(513)) }
    }

    @Test("A change of any byte is either rejected or changes the record.")
    func everyByte() throws {
        let bytes = Array(Self.full.utf8)
        var memory = RecordMemory()
        for index in bytes.indices {
            for mask in [0x01, 0x20, 0x80] as [UInt8] {
                var changed = bytes
                changed[index] ^= mask
                let whole = changed.indices
                guard let record = try? Record(lineAt: whole, of: changed, using: &memory) else { continue }
                var line: [UInt8] = []
                record.write(to: &line)
                #expect(Array(line.dropLast()) == changed, "byte \(index)")
                #expect(record != Self.fullRecord, "byte \(index)")
            }
        }
    }

    @Test(
        "A hold is read from a code with an optional detail.",
        arguments: [
            ("schema", "schema", nil), ("schema: seq missing", "schema", "seq missing"),
            ("delivered: 200", "delivered", "200"),
            ("a: b: c", "a", "b: c"), ("", "", nil),
        ])
    func holdText(text: String, code: String, detail: String?) {
        #expect(Hold(text: text) == Hold(code, detail))
        #expect(Hold(text: text).text == text)
    }
}
