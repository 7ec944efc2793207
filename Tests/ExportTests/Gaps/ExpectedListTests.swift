import Systems
import Telemetry
import Testing

@testable import Export

/// Tests of lists of sequence numbers in CSV and NDJSON.
@Suite struct ExpectedListTests {
    /// A list and its rows, each as `system client type number`.
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        var rows = ["mozilla C core 7"]

        var testDescription: String { text }
    }

    private static let cases = [
        Case(text: "", rows: []),
        Case(text: "\n \r\n", rows: []),
        Case(text: "system,client,type,seq", rows: []),
        Case(text: "system,client,type,seq\nmozilla,C,core,7"),
        Case(text: "\u{FEFF}system,client,type,seq\r\nmozilla,C,core,7\r\n"),
        Case(text: "\n\nsystem,client,type,seq\n\nmozilla,C,core,7\n\n"),
        Case(text: "when,seq,type,client,system\nnow,7,core,C,mozilla\n"),
        Case(text: "\"system\",\"client\",\"type\",\"seq\"\r\n\"mozilla\",\"C\",\"core\",\"7\"\r\n"),
        Case(
            text: "system,client,type,seq\nmozilla,\"a,\"\"b\"\"\nc\",core,0007\nglean,C,baseline,0\n",
            rows: ["mozilla a,\"b\"\nc core 7", "glean C baseline 0"]),
        Case(
            text: "system,client,type,seq\nadjust,C,session,9223372036854775807\n",
            rows: ["adjust C session 9223372036854775807"]),
        Case(text: #"{"system":"mozilla","client":"C","type":"core","seq":7}"#),
        Case(text: #" {"seq":7,"x":[1],"type":"core","client":"\u0043","system":"mozilla"}"# + "\r\n\n"),
        Case(
            text: "\u{FEFF}\n" + #"{"system":"mozilla","client":"C","type":"core","seq":7}"# + "\n \n"
                + #"{"system":"mozilla","client":"C","type":"core","seq":7}"# + "\n",
            rows: ["mozilla C core 7", "mozilla C core 7"]),
    ]

    /// Reads a list in pieces of the given size.
    private func rows(_ text: String, pieceSize: Int = 1 << 20) throws -> [String] {
        var rows: [String] = []
        var list = ExpectedList(Systems.table)
        let bytes = Array(text.utf8)
        func add(_ row: ExpectedNumber) { rows.append("\(row.system) \(row.client) \(row.type) \(row.number)") }
        for start in stride(from: 0, to: bytes.count, by: pieceSize) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieceSize)])
            try list.read(piece.span, add)
        }
        try list.finish(add)
        #expect(list.rowCount == rows.count)
        return rows
    }

    @Test(arguments: cases) func list(_ item: Case) throws {
        #expect(try rows(item.text) == item.rows)
        #expect(try rows(item.text, pieceSize: 1) == item.rows)
    }

    /// A malformed list, the number of the line, and the reason.
    struct Fault: Sendable, CustomTestStringConvertible {
        let text: String
        let line: Int
        let reason: ExpectedListError.Reason

        init(_ text: String, _ line: Int, _ reason: ExpectedListError.Reason) {
            (self.text, self.line, self.reason) = (text, line, reason)
        }

        var testDescription: String { String(text.prefix(80)) }
    }

    private static let header = "system,client,type,seq\n"

    private static let faults = [
        Fault("system,client,type\n", 1, .syntax("no column seq in the header")),
        Fault("\n\nsystem;client;type;seq\n", 3, .syntax("no column system in the header")),
        Fault("system,client,type,seq,type\n", 1, .syntax("two columns type in the header")),
        Fault(header + "mozilla,C,core\n", 2, .syntax("3 fields instead of the 4 of the header")),
        Fault(header + "mozilla,C,core,7,8\n", 2, .syntax("5 fields instead of the 4 of the header")),
        Fault(header + "mozilla,\"C\n\n,core,7\n", 2, .syntax("a quotation mark is not closed")),
        Fault(
            header + "mozilla,\"a\nb\",core,7\nmozilla,\"C\"x,core,7\n", 4,
            .syntax("text after a closing quotation mark")),
        Fault(header + "mozilla,C\"D,core,7\n", 2, .syntax("a quotation mark within an unquoted field")),
        Fault(header + "mozilla,,core,7\n", 2, .syntax("client is empty")),
        Fault(header + "mozilla,C,core,7\nfoo,C,core,7\n", 3, .unknownSystem("foo")),
        Fault(header + "sift,C,mobile_events,7\n", 2, .unnumbered("sift", type: "mobile_events")),
        Fault(header + "adjust,C,click,7\n", 2, .unnumbered("adjust", type: "click")),
        Fault(header + "mozilla,C,core,-1\n", 2, .number),
        Fault(header + "mozilla,C,core,7.5\n", 2, .number),
        Fault(header + "mozilla,C,core,\n", 2, .number),
        Fault(header + "mozilla,C,core,9223372036854775808\n", 2, .number),
        Fault(header + "mozilla,\(String(repeating: "C", count: 70_000)),core,7\n", 2, .tooLong),
        Fault(String(repeating: ",", count: 300), 1, .tooLong),
        Fault(#"{"system":"mozilla","client":"C","type":"core"}"#, 1, .number),
        Fault(#"{"system":"mozilla","client":"C","type":"core","seq":"7"}"#, 1, .number),
        Fault(#"{"system":"mozilla","client":"C","type":"core","seq":1e2}"#, 1, .number),
        Fault(
            #"{"system":"mozilla","client":null,"type":"core","seq":7}"#, 1,
            .syntax("system, client and type must be strings")),
        Fault("\n{\"system\":\n", 2, .syntax("JSON ends inside a value at byte 10")),
        Fault(
            #"{"system":"mozilla","client":"C","type":"core","seq":7}"# + "\n[]\n", 2, .syntax("not a JSON object")),
        Fault("{\"client\":\"\(String(repeating: "C", count: 70_000))\"}", 1, .tooLong),
    ]

    @Test(arguments: faults) func fault(_ fault: Fault) {
        for pieceSize in [1, 1 << 20] {
            #expect(throws: ExpectedListError(line: fault.line, fault.reason)) {
                try rows(fault.text, pieceSize: pieceSize)
            }
        }
    }

    @Test func malformedUTF8IsRejected() {
        var list = ExpectedList(Systems.table)
        let bytes = Array(Self.header.utf8) + Array("mozilla,".utf8) + [0xFF] + Array(",core,7\n".utf8)
        #expect(throws: ExpectedListError(line: 2, .syntax("malformed UTF-8"))) { try list.read(bytes.span) { _ in } }
    }

    @Test func descriptionsNameTheLine() {
        #expect(ExpectedListError(line: 7, .unknownSystem("x")).description == #"line 7: unknown system "x""#)
        let unnumbered = ExpectedListError(line: 8, .unnumbered("sift", type: "y"))
        #expect(unnumbered.description == #"line 8: records of sift with the type "y" are not numbered"#)
    }
}
