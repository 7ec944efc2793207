import Bundle
import Files
import JSONText
import Mozilla
import Systems
import Telemetry
import Testing

@testable import Capture

/// What is kept of the outputs that were read, without a process.
@Suite struct IntakeTests {
    /// An intake with what it handed on.
    private struct Taken {
        var intake: Intake
        var lines: [String] = []
        var payloads: [String] = []
        var found: [String] = []

        init(keepsDetails: Bool = true) {
            intake = Intake(.ofTests, keepsDetails: keepsDetails, systems: Systems.table)
        }

        mutating func take(_ output: ScanOutput, fromBundle isBundle: Bool = false) throws {
            var (lines, payloads, found) = (lines, payloads, found)
            try intake.add(output, fromBundle: isBundle) { _, line, payload in
                lines.append(String(decoding: line, as: UTF8.self))
                payloads.append(String(decoding: payload, as: UTF8.self))
            } note: { finding in
                switch finding {
                case .quarantined(let item, _): found.append("quarantined \(item.path)")
                case .problem(let problem): found.append("problem \(problem.path)")
                case .app: break
                }
            }
            (self.lines, self.payloads, self.found) = (lines, payloads, found)
        }
    }

    private static let note = "P11 id also used by an earlier record with different content"

    private func record(_ id: String, _ payload: String = "{}", path: String = "a", notes: [String] = []) -> Record {
        Record(
            system: .mozilla, type: "core", id: id, client: "C \"1\"", app: App(name: "Focus", version: "5.0"),
            target: Target(path: "/submit/telemetry/\(id)/core/Focus/5.0/release/2"), payload: Array(payload.utf8),
            source: Source(capture: "phone", path: path, store: .mozillaPingFile, index: 0), notes: notes)
    }

    private func output(_ records: Record...) -> ScanOutput {
        var output = ScanOutput(writingFor: 0)
        for record in records { output.add(record) }
        return output
    }

    private func problem(_ code: String, _ path: String = "p") -> PlacedProblem {
        PlacedProblem(capture: "phone", path: path, problem: Problem(code, "words"))
    }

    private func output(_ problems: PlacedProblem...) -> ScanOutput {
        var output = ScanOutput(writingFor: 0)
        for problem in problems { output.report(problem) }
        return output
    }

    private func quarantined(_ path: String = "q") -> Quarantined {
        Quarantined(
            capture: "phone", path: path, store: .mozillaPingFile, reject: Reject("P2 cut short", offset: 3),
            size: 4, sha256: PayloadHash.hex(of: [1]), isStored: true)
    }

    private func output(_ items: Quarantined...) -> ScanOutput {
        var output = ScanOutput(writingFor: 0)
        for item in items { output.quarantine(item) }
        return output
    }

    private func line(_ record: Record, noting note: String? = nil) -> String {
        var record = record
        if let note { record.notes.insert(note, at: 0) }
        var line: [UInt8] = []
        record.write(to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    // MARK: Records

    @Test("an output without its findings keeps its memory")
    func emptied() throws {
        var used = output(record("1"), record("2"))
        used.report(problem("unreadable"))
        used.quarantine(quarantined())
        used.bytesRead = 7
        let capacity = used.lines.capacity
        #expect(used.isWorthReusing)
        used.removeAll()
        #expect(used.lines.count == 0 && used.lines.capacity == capacity && used.entries.capacity >= 2)
        #expect(used.entries.isEmpty && used.problems.isEmpty && used.quarantined.isEmpty && used.bytesRead == 0)
        used.add(record("3"))
        var taken = Taken()
        try taken.take(used)
        #expect(taken.lines == [line(record("3"))])
        #expect(taken.found.isEmpty)
    }

    @Test("memory that a store has filled is not kept")
    func emptiedLarge() {
        let used = output(record("1", String(repeating: " ", count: 1 << 20)))
        #expect(!used.isWorthReusing)
    }

    @Test("a record that came before is left out and counted, wherever it was found")
    func duplicates() throws {
        var taken = Taken()
        let (one, two) = (record("1"), record("2"))
        try taken.take(output(one, two, record("1", path: "elsewhere", notes: ["C8 x"])))
        try taken.take(output(record("2", path: "later")))
        #expect(taken.lines == [line(one), line(two)])
        #expect(taken.intake.duplicates == 2)
        #expect(taken.intake.totals.records == 2)
        #expect(!taken.intake.isIncomplete)
    }

    @Test("two systems or types may use one id")
    func otherTypes() throws {
        var (taken, other) = (Taken(), record("1"))
        other.type = "focus-event"
        try taken.take(output(record("1"), other))
        #expect(taken.lines == [line(record("1")), line(other)])
        #expect(taken.intake.duplicates == 0)
    }

    @Test(
        "an id that comes again with another payload is noted in front of the other notes",
        arguments: [[], ["C8 searches: null removed"], ["a \"b\"\n", "ä", ""], ["no-target", "P1 x"]])
    func repeatedID(notes: [String]) throws {
        var taken = Taken()
        let payload = #"{"notes":[],"x":"\u0001"}"#
        let again = record("1", payload, notes: notes)
        try taken.take(output(record("0", notes: ["x"]), record("1"), again, record("2")))
        #expect(
            taken.lines == [
                line(record("0", notes: ["x"])), line(record("1")), line(again, noting: Self.note), line(record("2")),
            ])
        #expect(taken.payloads == ["{}", "{}", payload, "{}"])
        var document = JSONDocument()
        let read = try Record(line: Array(taken.lines[2].utf8.dropLast()), using: &document, knowing: Systems.table)
        #expect(read.notes == [Self.note] + notes)
        #expect(taken.intake.totals.records == 4)
        #expect(taken.intake.duplicates == 0)
    }

    @Test("each further payload of an id is noted, and comes out once")
    func furtherPayloads() throws {
        var taken = Taken()
        let payloads = ["1", "2", "3", "2", "3", "1"].map { #"{"a":\#($0)}"# }
        for payload in payloads { try taken.take(output(record("1", payload))) }
        #expect(taken.payloads == Array(payloads.prefix(3)))
        #expect(taken.lines.map { $0.contains(Self.note) } == [false, true, true])
        #expect(taken.intake.duplicates == 3)
    }

    @Test("what is noted already stays as it is, as records of a bundle do")
    func notedBefore() throws {
        var taken = Taken()
        let noted = record("1", #"{"a":1}"#, notes: ["C8 x", "P11 documentId also used by index 0"])
        try taken.take(output(record("1"), noted))
        #expect(taken.lines == [line(record("1")), line(noted)])
    }

    @Test("the note is put in between the bytes of the line, which is not read for it", arguments: [0, 100])
    func noteWithoutReading(start: Int) {
        var output = [UInt8](repeating: UInt8(ascii: "-"), count: start)
        let written = record("1", #"{"a":1}"#).write(to: &output)
        // Nothing but the brackets of the notes is as it was: no reader takes this for a record.
        for place in output.indices where place != written.notes && place != written.notes + 1 {
            output[place] = UInt8(ascii: "x")
        }
        let (line, payload) = written.line(output[start...], noting: "P11 y")
        let expected = output[start...written.notes] + Array(#""P11 y""#.utf8) + output[(written.notes + 1)...]
        #expect(line == Array(expected))
        #expect(payload.count == written.payload.count)
        #expect(payload.lowerBound == written.payload.lowerBound - start + 7)
    }

    @Test("what the taker of records throws ends the taking")
    func failure() {
        struct Full: Error {}
        var intake = Taken().intake
        #expect(throws: Full.self) {
            try intake.add(output(record("1")), fromBundle: false) { _, _, _ in throw Full() }
        }
    }

    // MARK: What else is found

    @Test(
        "a problem is a loss, or worth a word, or neither",
        arguments: [
            ("unreadable", true, false), ("damaged", true, false), ("quarantine-limit", true, false),
            ("changed", true, false), ("link", true, false), ("special", false, true), ("nested", false, false),
            ("pending-counters", false, false), ("other-traffic", false, false),
        ])
    func losses(code: String, isLoss: Bool, isWarning: Bool) throws {
        var taken = Taken()
        try taken.take(output(problem(code)))
        #expect(taken.intake.problems.elements == [problem(code)])
        #expect(taken.intake.problems.counts == [code: 1])
        #expect(taken.intake.losses.count == (isLoss ? 1 : 0))
        #expect(taken.intake.warnings.count == (isWarning ? 1 : 0))
        #expect(taken.intake.isIncomplete == isLoss)
    }

    @Test("a problem that says that something was not read is a loss, whatever its code")
    func lossByItself() throws {
        var taken = Taken()
        let found = PlacedProblem(capture: "c", path: "p", problem: Problem("G20", "not followed", isLoss: true))
        try taken.take(output(found))
        #expect(taken.intake.losses.elements == [found])
        #expect(taken.intake.isIncomplete)
    }

    @Test("a problem that is no loss although its code implies one is a warning")
    func noLoss() throws {
        var taken = Taken()
        let found = PlacedProblem(capture: "c", path: "p", problem: Problem("link", "not followed", isLoss: false))
        try taken.take(output(found))
        #expect(taken.intake.warnings.elements == [found])
        #expect(taken.intake.losses.count == 0)
        #expect(!taken.intake.isIncomplete)
    }

    @Test("what could not be understood is a loss, but not where a bundle carries it along", arguments: [false, true])
    func quarantine(isBundle: Bool) throws {
        var taken = Taken()
        try taken.take(output(quarantined()), fromBundle: isBundle)
        #expect(taken.intake.quarantined.elements == [quarantined()])
        #expect(taken.intake.quarantined.counts == ["P2": 1])
        #expect(taken.intake.isIncomplete == !isBundle)
    }

    @Test("a loss that a bundle tells of was told when it was packed")
    func lossOfABundle() throws {
        var taken = Taken()
        try taken.take(output(problem("unreadable")), fromBundle: true)
        #expect(taken.intake.losses.count == 1)
        #expect(!taken.intake.isIncomplete)
        try taken.take(output(problem("unreadable")))
        #expect(taken.intake.losses.count == 1)
        #expect(taken.intake.isIncomplete)
    }

    @Test("details that come again are told once")
    func detailsOnce() throws {
        var taken = Taken()
        for _ in 0..<2 {
            try taken.take(output(problem("special", "a"), problem("special", "b"), problem("special", "a")))
            try taken.take(output(quarantined("c"), quarantined("c"), quarantined("d")), fromBundle: true)
        }
        #expect(taken.found == ["problem a", "problem b", "quarantined c", "quarantined d"])
        #expect(taken.intake.problems.count == 2)
        #expect(taken.intake.warnings.count == 2)
        #expect(taken.intake.quarantined.count == 2)
        var problems: [[UInt8]] = []
        try taken.intake.spill.problems.forEach { line, _ in problems.append(Array(line)) }
        #expect(problems == [problem("special", "a"), problem("special", "b")].map(\.json.bytes))
    }

    @Test("the first details are at hand, all are spilled where a bundle is to carry them", arguments: [true, false])
    func manyDetails(keepsDetails: Bool) throws {
        var taken = Taken(keepsDetails: keepsDetails)
        for number in 0..<1500 { try taken.take(output(problem("unreadable", "p\(number)"))) }
        #expect(taken.intake.problems.elements.map(\.path) == (0..<1000).map { "p\($0)" })
        #expect(taken.intake.problems.left == 500)
        #expect(taken.intake.losses.counts == ["unreadable": 1500])
        #expect(taken.intake.spill.problems.count == (keepsDetails ? 1500 : 0))
    }

    @Test(
        "what the quarantine cannot carry is a loss that is told",
        arguments: [
            (QuarantineLoss.tooLarge, "quarantine-limit"), (.tooMany(7), "quarantine-limit"), (.changed, "changed"),
            (.unreadable("cannot read big: Input/output error"), "unreadable"),
        ])
    func lost(loss: QuarantineLoss, code: String) throws {
        var taken = Taken()
        try taken.intake.addLoss(of: quarantined("big"), loss)
        #expect(taken.intake.problems.elements.map(\.path) == ["big"])
        #expect(taken.intake.losses.elements.map(\.problem.code) == [code])
        #expect(taken.intake.isIncomplete)
        #expect(taken.intake.spill.problems.count == 1)
    }
}
