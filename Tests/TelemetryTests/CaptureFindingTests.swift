import Bytes
import Mozilla
import Telemetry
import TestSupport
import Testing

/// Tests the lines of problems and of the quarantine in bundles.
@Suite struct CaptureFindingTests {
    @Test("A problem is written as a line and read back.")
    func problem() {
        let line = #"{"capture":"night 1","code":"unreadable","path":"a/\"b\"","text":"cannot open it"}"#
        let problem = LocatedProblem(
            capture: "night 1", path: #"a/"b""#, problem: Problem("unreadable", "cannot open it"))
        #expect(String(decoding: problem.json.bytes, as: UTF8.self) == line)
        #expect(LocatedProblem(json: Array(line.utf8)) == problem)
    }

    @Test("A problem at an offset of its file states the offset.")
    func offsetOfProblem() {
        let line = #"{"capture":"c","code":"bad-value","offset":118,"path":"p","text":"no number at byte 118"}"#
        let problem = LocatedProblem(
            capture: "c", path: "p", problem: Problem("bad-value", "no number at byte 118", at: 118))
        #expect(String(decoding: problem.json.bytes, as: UTF8.self) == line)
        #expect(LocatedProblem(json: Array(line.utf8)) == problem)
        let withoutOffset = line.replacing("118,\"path", with: "\"x\",\"path")
        #expect(LocatedProblem(json: Array(withoutOffset.utf8))?.problem.offset == nil)
    }

    @Test(
        "A line states whether a problem is a loss only if its code implies otherwise.",
        arguments: [
            ("G20", true, #""loss":true,"#), ("G20", false, ""), ("link", true, ""), ("link", false, #""loss":false,"#),
        ])
    func loss(code: String, isLoss: Bool, key: String) {
        let line = #"{"capture":"c","code":"\#(code)",\#(key)"path":"p","text":"not followed"}"#
        let problem = LocatedProblem(
            capture: "c", path: "p", problem: Problem(code, "not followed", isLoss: isLoss))
        #expect(String(decoding: problem.json.bytes, as: UTF8.self) == line)
        #expect(LocatedProblem(json: Array(line.utf8)) == problem)
    }

    private static let whole = #"""
        {"capture":"c","length":null,"offset":null,"path":"p","reason":"P1 empty file","sha256":"00","size":0,\#
        "store":"mozilla-ping-file","stored":true}
        """#
    private static let span = #"""
        {"capture":"c","length":55,"offset":118,"path":"p","reason":"F4 event cut short","sha256":"00","size":55,\#
        "store":"mozilla-pending-events","stored":false}
        """#

    @Test("A quarantine entry is written as a line and read back.")
    func quarantined() {
        let entries = [
            QuarantineEntry(
                capture: "c", path: "p", store: .mozillaPingFile, reject: Reject("P1 empty file"), size: 0,
                sha256: "00", isStored: true),
            QuarantineEntry(
                capture: "c", path: "p", store: .mozillaPendingEvents,
                reject: Reject("F4 event cut short", offset: 118, length: 55), size: 55, sha256: "00",
                isStored: false),
        ]
        for (line, entry) in zip([Self.whole, Self.span], entries) {
            #expect(String(decoding: entry.json.bytes, as: UTF8.self) == line)
            #expect(QuarantineEntry(json: Array(line.utf8)) == entry)
        }
    }

    @Test(
        "A line without one of the keys is rejected.",
        arguments: ["capture", "path", "reason", "sha256", "size", "store", "stored"])
    func missingKey(key: String) {
        #expect(QuarantineEntry(json: Array(Self.whole.replacing("\"\(key)\":", with: "\"x\":").utf8)) == nil)
        #expect(LocatedProblem(json: Array(Self.whole.utf8)) == nil)
    }

    @Test(
        "A span is limited to its file. An incomplete span means the whole file.",
        arguments: [
            (nil, nil, 0..<10), (3, nil, 0..<10), (nil, 3, 0..<10), (3, 4, 3..<7), (3, 40, 3..<10), (10, 1, 10..<10),
            (11, 1, 0..<10), (0, 0, 0..<0),
        ] as [(Int?, Int?, Range<Int>)])
    func range(offset: Int?, length: Int?, range: Range<Int>) {
        #expect(Reject("x", offset: offset, length: length).range(inFileOf: 10) == range)
    }

    @Test("Hashes are SHA-256 in lowercase hexadecimal.")
    func hashes() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(PayloadHash.hex(of: []) == empty)
        #expect(PayloadHash.id(of: []) == "sha256:\(empty)")
        #expect(([0x00, 0x0A, 0xA0, 0xFF] as [UInt8]).hex == "000aa0ff")
    }
}
