import Bundle
import Bytes
import Files
import Hashing
import JSONText
import Mozilla
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of deduplication and the collection of findings, without running a command.
@Suite struct IntakeTests {
    /// An intake and the records that it passed on.
    private struct IntakeProbe {
        var intake: Intake
        var lines: [String] = []
        var payloads: [String] = []
        var found: [String] = []

        init(
            keepsDetails: Bool = true, earlier: EarlierBundles = EarlierBundles(), collectsIndexKeys: Bool = false,
            listsDroppedCopies: Bool = false
        ) {
            intake = Intake(
                ScanOptions(listsDroppedCopies: listsDroppedCopies), keepsDetails: keepsDetails,
                systems: Systems.table, earlier: earlier, collectsIndexKeys: collectsIndexKeys)
        }

        mutating func add(_ output: ScanOutput, fromBundle isBundle: Bool = false) throws {
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
        for record in records { withoutErrors { try output.add(record) } }
        return output
    }

    private func problem(_ code: String, _ path: String = "p") -> LocatedProblem {
        LocatedProblem(capture: "phone", path: path, problem: Problem(code, "words"))
    }

    private func output(_ problems: LocatedProblem...) -> ScanOutput {
        var output = ScanOutput(writingFor: 0)
        for problem in problems { output.report(problem) }
        return output
    }

    private func quarantined(_ path: String = "q") -> QuarantineEntry {
        QuarantineEntry(
            capture: "phone", path: path, store: .mozillaPingFile, reject: Reject("P2 cut short", offset: 3),
            size: 4, sha256: PayloadHash.hex(of: [1]), isStored: true)
    }

    private func output(_ items: QuarantineEntry...) -> ScanOutput {
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

    // MARK: Earlier bundles

    /// Returns the keys and ranks of records that are not held.
    private func indexed(_ records: [Record]) -> [RecordKey: UInt64] {
        Dictionary(uniqueKeysWithValues: records.map { (RecordKey($0), CopyRank.notHeld.indexNumber) })
    }

    /// Returns earlier bundles with the given records and lines of details.
    private func earlier(_ records: [Record], details: [[UInt8]] = []) -> EarlierBundles {
        var earlier = EarlierBundles()
        earlier.add(
            BundleIndex(
                digest: String(repeating: "0", count: 64), ancestors: [],
                records: indexed(records), details: Set(details.map { Digest16(of: $0.span) })))
        return earlier
    }

    @Test("Records of earlier bundles are omitted, and records with their ids are noted")
    func recordsOfEarlierBundles() throws {
        var probe = IntakeProbe(earlier: earlier([record("1"), record("2")]), collectsIndexKeys: true)
        let other = record("2", #"{"a":1}"#)
        try probe.add(output(record("1"), record("1"), record("3"), other, other, record("3")))
        #expect(probe.lines == [line(record("3")), line(other, noting: Self.note)])
        #expect(probe.intake.omitted.records == 2)
        #expect(probe.intake.duplicateCount == 2)
        #expect(probe.intake.totals.records == 2)
        #expect(probe.intake.indexKeys.records == indexed([record("3"), other]))
        #expect(!probe.intake.isIncomplete)
    }

    @Test("Details of earlier bundles are omitted, but losses are reported again")
    func detailsOfEarlierBundles() throws {
        let (loss, other) = (problem("unreadable"), problem("unknown-version"))
        var probe = IntakeProbe(
            earlier: earlier([], details: [quarantined().json.bytes, loss.json.bytes, other.json.bytes]),
            collectsIndexKeys: true)
        try probe.add(output(quarantined(), quarantined()))
        try probe.add(output(other))
        #expect(!probe.intake.isIncomplete)
        #expect(probe.found.isEmpty)
        try probe.add(output(loss))
        #expect(probe.intake.isIncomplete)
        #expect(probe.found == ["problem p"])
        #expect(probe.intake.losses.elements == [loss])
        #expect(probe.intake.omitted.quarantine == 1)
        #expect(probe.intake.omitted.problems == 2)
        #expect(probe.intake.spill.quarantine.count == 0)
        #expect(probe.intake.spill.problems.count == 0)
        #expect(probe.intake.indexKeys.details.isEmpty)
        try probe.add(output(quarantined("new")))
        #expect(probe.intake.indexKeys.details == [Digest16(of: quarantined("new").json.bytes.span)])
    }

    @Test("An entry whose bytes are lost is indexed without them, so that the next increment tries again")
    func lostBytes() throws {
        var probe = IntakeProbe(collectsIndexKeys: true)
        try probe.add(output(quarantined()))
        var listed = quarantined()
        listed.isStored = false
        try probe.intake.addLoss(of: listed, Problem("quarantine-limit", "words"))
        let keys = probe.intake.indexKeys.details
        #expect(keys.count == 2)
        #expect(keys.contains(Digest16(of: listed.json.bytes.span)))
        #expect(!keys.contains(Digest16(of: quarantined().json.bytes.span)))
    }

    // MARK: Records

    @Test("An output without its findings keeps its memory")
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
        try used.add(record("3"))
        var probe = IntakeProbe()
        try probe.add(used)
        #expect(probe.lines == [line(record("3"))])
        #expect(probe.found.isEmpty)
    }

    @Test("Memory that a large store has filled is released")
    func emptiedLarge() {
        let used = output(record("1", String(repeating: " ", count: 1 << 20)))
        #expect(!used.isWorthReusing)
    }

    @Test("Records that a store omitted count as duplicates")
    func omittedRecords() throws {
        var probe = IntakeProbe()
        var scanned = output(record("A"))
        scanned.omit(duplicate: record("B"))
        scanned.omit(duplicate: record("A"))
        try probe.add(scanned)
        #expect(probe.intake.duplicateCount == 2)
        #expect(probe.lines.count == 1)
    }

    @Test("Dropped records are listed with the number of the kept record, whatever the reason")
    func droppedCopies() throws {
        var probe = IntakeProbe(listsDroppedCopies: true)
        func copy(_ id: String, _ path: String, _ holds: [Hold] = [], _ payload: String = "{}") -> Record {
            var copy = record(id, payload, path: path)
            copy.held = holds
            return copy
        }
        let delivered = [Hold("delivered", "200")]
        // The delivered copy overrules one that is not held. Of two held copies, the one with fewer holds is kept.
        let later = output(copy("overruled", "log", delivered))
        probe.intake.survey(later)
        var first = ScanOutput(capture: "phone", writingWith: ScanOptions(listsDroppedCopies: true))
        for record in [
            copy("1", "a"), copy("1", "b"), copy("1", "c", [], #"{"other":1}"#), copy("overruled", "d"),
            copy("held", "e", [Hold("metadata"), Hold("incomplete")]), copy("held", "f", [Hold("metadata")]),
            copy("held", "g", [Hold("metadata")]),
        ] { try first.add(record) }
        first.omit(duplicate: copy("1", "store"))
        first.omit(duplicate: copy("excluded", "store"))
        try probe.add(first)
        try probe.add(later)
        var lines = probe.lines
        while try probe.intake.passDeferred(
            atMost: 1, keep: { _, line, _ in lines.append(String(decoding: line, as: UTF8.self)) })
        {}
        var found: [String] = []
        try probe.intake.forEachDroppedCopy { copy, number in
            var envelope = JSONDocument()
            try envelope.read(copy.envelope)
            let source = envelope.value(of: "source", .object, in: envelope.root)
            let path = source.flatMap { envelope.text("path", in: $0) } ?? ""
            found.append("\(path) \(number ?? 0)")
            #expect(envelope.text("id", in: envelope.root) == (id(in: lines, number) ?? "excluded"))
        }
        #expect(found.sorted() == ["b 1", "d 4", "e 3", "g 3", "store 0", "store 1"])
        #expect(found.count == probe.intake.duplicateCount)
    }

    /// Returns the id in the line with the given number, from 1.
    private func id(in lines: [String], _ number: Int?) -> String? {
        guard let number, let document = try? JSONDocument(Array(lines[number - 1].utf8.dropLast())) else { return nil }
        return document.text("id", in: document.root)
    }

    @Test("A repeated record is dropped and counted, wherever it was found")
    func duplicates() throws {
        var probe = IntakeProbe()
        let (one, two) = (record("1"), record("2"))
        try probe.add(output(one, two, record("1", path: "elsewhere", notes: ["C8 x"])))
        try probe.add(output(record("2", path: "later")))
        #expect(probe.lines == [line(one), line(two)])
        #expect(probe.intake.duplicateCount == 2)
        #expect(probe.intake.totals.records == 2)
        #expect(!probe.intake.isIncomplete)
    }

    @Test("Two systems or types may use the same id")
    func otherTypes() throws {
        var (probe, other) = (IntakeProbe(), record("1"))
        other.type = "focus-event"
        try probe.add(output(record("1"), other))
        #expect(probe.lines == [line(record("1")), line(other)])
        #expect(probe.intake.duplicateCount == 0)
    }

    @Test(
        "A repeated id with another payload gets a note before the other notes",
        arguments: [[], ["C8 searches: null removed"], ["a \"b\"\n", "ä", ""], ["no-target", "P1 x"]])
    func repeatedID(notes: [String]) throws {
        var probe = IntakeProbe()
        let payload = #"{"notes":[],"x":"\u0001"}"#
        let again = record("1", payload, notes: notes)
        try probe.add(output(record("0", notes: ["x"]), record("1"), again, record("2")))
        #expect(
            probe.lines == [
                line(record("0", notes: ["x"])), line(record("1")), line(again, noting: Self.note), line(record("2")),
            ])
        #expect(probe.payloads == ["{}", "{}", payload, "{}"])
        var document = JSONDocument()
        let read = try Record(line: Array(probe.lines[2].utf8.dropLast()), using: &document, knowing: Systems.table)
        #expect(read.notes == [Self.note] + notes)
        #expect(probe.intake.totals.records == 4)
        #expect(probe.intake.duplicateCount == 0)
    }

    @Test("Each further payload with the same id gets a note, and is kept once")
    func furtherPayloads() throws {
        var probe = IntakeProbe()
        let payloads = ["1", "2", "3", "2", "3", "1"].map { #"{"a":\#($0)}"# }
        for payload in payloads { try probe.add(output(record("1", payload))) }
        #expect(probe.payloads == Array(payloads.prefix(3)))
        #expect(probe.lines.map { $0.contains(Self.note) } == [false, true, true])
        #expect(probe.intake.duplicateCount == 3)
    }

    @Test("An existing note is kept, as in records of a bundle")
    func notedBefore() throws {
        var probe = IntakeProbe()
        let noted = record("1", #"{"a":1}"#, notes: ["C8 x", "P11 documentId also used by index 0"])
        try probe.add(output(record("1"), noted))
        #expect(probe.lines == [line(record("1")), line(noted)])
    }

    @Test("The note is inserted into the bytes of the line without parsing it", arguments: [0, 100])
    func noteWithoutReading(start: Int) {
        var output = [UInt8](repeating: UInt8(ascii: "-"), count: start)
        let written = record("1", #"{"a":1}"#).write(to: &output)
        // Only the brackets of the notes are valid, so that no reader accepts this line as a record.
        for place in output.indices where place != written.notes && place != written.notes + 1 {
            output[place] = UInt8(ascii: "x")
        }
        let (line, payload) = written.line(output[start...], noting: "P11 y")
        let expected = output[start...written.notes] + Array(#""P11 y""#.utf8) + output[(written.notes + 1)...]
        #expect(line == Array(expected))
        #expect(payload.count == written.payload.count)
        #expect(payload.lowerBound == written.payload.lowerBound - start + 7)
    }

    @Test("An error of the consumer of records ends the intake")
    func failure() {
        struct Full: Error {}
        var intake = IntakeProbe().intake
        #expect(throws: Full.self) {
            try intake.add(output(record("1")), fromBundle: false) { _, _, _ in throw Full() }
        }
    }

    // MARK: Other findings

    @Test(
        "A problem is a loss, a warning, or neither",
        arguments: [
            ("unreadable", true, false), ("damaged", true, false), ("quarantine-limit", true, false),
            ("changed", true, false), ("link", true, false), ("special", false, true), ("nested", false, false),
            ("pending-counters", false, false), ("other-traffic", false, false),
        ])
    func losses(code: String, isLoss: Bool, isWarning: Bool) throws {
        var probe = IntakeProbe()
        try probe.add(output(problem(code)))
        #expect(probe.intake.problems.elements == [problem(code)])
        #expect(probe.intake.problems.countsByCode == [CapturedText(code): 1])
        #expect(probe.intake.losses.count == (isLoss ? 1 : 0))
        #expect(probe.intake.warnings.count == (isWarning ? 1 : 0))
        #expect(probe.intake.isIncomplete == isLoss)
    }

    @Test("A problem that states a loss is a loss, regardless of its code")
    func explicitLoss() throws {
        var probe = IntakeProbe()
        let found = LocatedProblem(capture: "c", path: "p", problem: Problem("G20", "not followed", isLoss: true))
        try probe.add(output(found))
        #expect(probe.intake.losses.elements == [found])
        #expect(probe.intake.isIncomplete)
    }

    @Test("A problem that states no loss is a warning, although its code implies a loss")
    func noLoss() throws {
        var probe = IntakeProbe()
        let found = LocatedProblem(capture: "c", path: "p", problem: Problem("link", "not followed", isLoss: false))
        try probe.add(output(found))
        #expect(probe.intake.warnings.elements == [found])
        #expect(probe.intake.losses.count == 0)
        #expect(!probe.intake.isIncomplete)
    }

    @Test("A rejected item is a loss, unless a bundle contains it", arguments: [false, true])
    func quarantine(isBundle: Bool) throws {
        var probe = IntakeProbe()
        try probe.add(output(quarantined()), fromBundle: isBundle)
        #expect(probe.intake.quarantinedItems.elements == [quarantined()])
        #expect(probe.intake.quarantinedItems.countsByCode == ["P2": 1])
        #expect(probe.intake.isIncomplete == !isBundle)
    }

    @Test("A loss that a bundle lists was reported when the bundle was created")
    func lossOfABundle() throws {
        var probe = IntakeProbe()
        try probe.add(output(problem("unreadable")), fromBundle: true)
        #expect(probe.intake.losses.count == 1)
        #expect(!probe.intake.isIncomplete)
        try probe.add(output(problem("unreadable")))
        #expect(probe.intake.losses.count == 1)
        #expect(probe.intake.isIncomplete)
    }

    @Test("Repeated details are reported once")
    func detailsOnce() throws {
        var probe = IntakeProbe()
        for _ in 0..<2 {
            try probe.add(output(problem("special", "a"), problem("special", "b"), problem("special", "a")))
            try probe.add(output(quarantined("c"), quarantined("c"), quarantined("d")), fromBundle: true)
        }
        #expect(probe.found == ["problem a", "problem b", "quarantined c", "quarantined d"])
        #expect(probe.intake.problems.count == 2)
        #expect(probe.intake.warnings.count == 2)
        #expect(probe.intake.quarantinedItems.count == 2)
        var problems: [[UInt8]] = []
        try probe.intake.spill.problems.forEach { line, _ in problems.append(Array(line)) }
        #expect(problems == [problem("special", "a"), problem("special", "b")].map(\.json.bytes))
    }

    @Test("The first details are kept, and all are spilled if a bundle is to contain them", arguments: [true, false])
    func manyDetails(keepsDetails: Bool) throws {
        var probe = IntakeProbe(keepsDetails: keepsDetails)
        for number in 0..<1500 { try probe.add(output(problem("unreadable", "p\(number)"))) }
        #expect(probe.intake.problems.elements.map(\.path) == (0..<1000).map { "p\($0)" })
        #expect(probe.intake.problems.omittedCount == 500)
        #expect(probe.intake.losses.countsByCode == ["unreadable": 1500])
        #expect(probe.intake.spill.problems.count == (keepsDetails ? 1500 : 0))
    }

    @Test("Quarantined bytes that cannot be stored are a reported loss", arguments: ["quarantine-limit", "unreadable"])
    func lost(code: String) throws {
        var probe = IntakeProbe()
        try probe.intake.addLoss(of: quarantined("big"), Problem(code, "words"))
        #expect(probe.intake.problems.elements.map(\.path) == ["big"])
        #expect(probe.intake.losses.elements.map(\.problem.code) == [code])
        #expect(probe.intake.isIncomplete)
        #expect(probe.intake.spill.problems.count == 1)
    }
}
