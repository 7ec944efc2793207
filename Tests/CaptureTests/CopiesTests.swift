import Bundle
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests of the choice among copies of a record, without running a command.
@Suite struct CopiesTests {
    /// A record of a test, identified by its number.
    private struct Copy: Hashable {
        let number: Int
        let holds: [String]

        /// Whether the copy is in a part of a capture that is read in advance.
        var isSurveyed: Bool { holds.contains { $0.hasPrefix("delivered") || $0 == "opted-out" } }

        var record: Record {
            Record(
                system: .mozilla, type: "core", id: "\(number)", client: "C",
                target: Target(path: "/submit/telemetry/\(number)/core/Focus/5.0/release/2"), payload: Array("{}".utf8),
                source: Source(capture: "phone", path: "a", store: .mozillaPingFile, index: 0),
                held: holds.map { Hold(text: $0) })
        }
    }

    private static let surroundings: [[String]] = [
        [], [], [], ["delivered: 200"], ["delivered: 204"], ["opted-out"], ["opted-out", "no-target"], ["no-target"],
        ["incomplete"], ["metadata"], ["metadata", "incomplete"], ["unproven"],
    ]
    /// The surroundings of packages of Adjust, all of which are held.
    private static let packageSurroundings: [[String]] = [
        [], ["forgotten"], ["delivered: 200"], ["signature"], ["superseded", "signature"],
    ]

    private static func randomCopies(_ generator: inout SeededGenerator) -> [Copy] {
        (0..<24).map { _ in
            let number = Int.random(in: 0..<8, using: &generator)
            // The holds that depend on the payload alone are the same for all copies.
            let holds = number < 3 ? ["too-few-events"] : number > 5 ? ["attribution"] : []
            let others = (number > 5 ? packageSurroundings : surroundings).randomElement(using: &generator) ?? []
            return Copy(number: number, holds: holds + others)
        }
    }

    /// The rule of the article, written without ``CopyRank``.
    private static func expected(_ copies: [Copy]) -> Set<Copy> {
        func rule(_ copy: Copy) -> Int {
            func has(_ code: String) -> Bool { copy.holds.contains { $0 == code || $0.hasPrefix("\(code):") } }
            if has("forgotten") { return 1 }
            if has("delivered") { return 2 }
            if has("opted-out") { return 3 }
            return copy.holds.isEmpty ? 4 : 5
        }
        let byNumber = Dictionary(grouping: copies, by: \.number)
        return Set(
            byNumber.values.compactMap { copies in
                copies.min { left, right in
                    (rule(left), left.holds.count, left.holds.joined(separator: "; "))
                        < (rule(right), right.holds.count, right.holds.joined(separator: "; "))
                }
            })
    }

    /// Reads outputs with one copy each, as `CaptureReader` does, and returns the copies that were passed on.
    private static func read(_ copies: [Copy], earlier: EarlierBundles = EarlierBundles()) throws -> [Copy] {
        let options = ScanOptions()
        let outputs = try copies.map { copy in
            var output = ScanOutput(capture: "phone", input: 0, writingWith: options)
            try output.add(copy.record)
            return output
        }
        var intake = Intake(options, keepsDetails: false, systems: Systems.table, earlier: earlier)
        for (copy, output) in zip(copies, outputs) where copy.isSurveyed { intake.survey(output) }
        var kept: [Copy] = []
        var document = JSONDocument()
        let keep = { (entry: borrowing ScanOutput.Entry, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) in
            let record = try Record(line: Array(line.dropLast()), using: &document)
            #expect(Array(payload) == record.payload)
            #expect(entry.key == RecordKey(record))
            #expect(entry.summary == RecordSummary(record))
            kept.append(Copy(number: Int(record.id) ?? -1, holds: record.held.map(\.text)))
        }
        for output in outputs { try intake.add(output, fromBundle: false, keep: keep) }
        while try intake.passDeferred(atMost: 2, keep: keep) {}
        #expect(kept.count + intake.duplicateCount + intake.omitted.records == copies.count)
        return kept
    }

    @Test("The kept copies do not depend on the order of the copies", arguments: UInt64(0)..<250)
    func order(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var copies = Self.randomCopies(&generator)
        let expected = Self.expected(copies)
        for _ in 0..<5 {
            copies.shuffle(using: &generator)
            let kept = try Self.read(copies)
            #expect(kept.count == expected.count)
            #expect(Set(kept) == expected)
        }
    }

    @Test("The kept copies do not depend on how the copies are divided among bundles", arguments: UInt64(0)..<250)
    func parts(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let copies = Self.randomCopies(&generator)
        let (first, second) = (Array(copies[..<12]), Array(copies[12...]))
        let expected = Self.expected(copies)
        // Two bundles, merged in either order.
        let bundles = [try Self.read(first), try Self.read(second)]
        #expect(Set(try Self.read(bundles[0] + bundles[1])) == expected)
        #expect(Set(try Self.read(bundles[1] + bundles[0])) == expected)
        // A bundle and its increment.
        var earlier = EarlierBundles()
        earlier.add(
            BundleIndex(
                digest: String(repeating: "0", count: 64), ancestors: [],
                records: Dictionary(
                    uniqueKeysWithValues: bundles[0].map(\.record).map { record in
                        (RecordKey(record), CopyRank(record.held).indexNumber)
                    }), details: []))
        let increment = try Self.read(second, earlier: earlier)
        #expect(Set(try Self.read(bundles[0] + increment)) == expected)
        #expect(Set(try Self.read(increment + bundles[0])) == expected)
    }

    @Test("A copy that decides about others is counted with its capture and its holds")
    func decisions() throws {
        var intake = Intake(ScanOptions(), keepsDetails: false, systems: Systems.table)
        func output(_ capture: String, input: Int, _ holds: [String]) throws -> ScanOutput {
            var output = ScanOutput(capture: capture, input: input, writingWith: ScanOptions())
            for number in 1...2 { try output.add(Copy(number: number, holds: holds).record) }
            return output
        }
        let outputs = try [
            output("monday", input: 0, []), output("log.har", input: 1, ["delivered: 200"]),
            output("tuesday", input: 2, ["no-target", "forgotten"]),
        ]
        intake.survey(outputs[1])
        for output in outputs { try intake.add(output, fromBundle: false) { _, _, _ in } }
        while try intake.passDeferred(atMost: 1, keep: { _, _, _ in }) {}
        let decision = CopyDecision(rank: CopyRank([Hold("no-target"), .forgotten]), capture: "tuesday")
        #expect(intake.decisionCounts == [decision: 2])
        #expect(intake.duplicateCount == 4)
    }

    // MARK: Pending events

    /// Reads captures as a command does.
    private func read(_ folders: [CaptureFolder]) async throws -> (records: [Record], duplicateCount: Int) {
        var inputs: [CaptureInput] = []
        for folder in folders { inputs.append(.folder(try await folder.open())) }
        var intake = Intake(ScanOptions(), keepsDetails: false, systems: Systems.table)
        var records: [Record] = []
        var document = JSONDocument()
        try await CaptureReader(inputs).read(into: &intake) { _, line, _ in
            records.append(try Record(line: Array(line.dropLast()), using: &document))
        }
        return (records, intake.duplicateCount)
    }

    private static let events = "[0,\"action\",\"foreground\",\"app\"],\n[9,\"action\",\"click\",\"erase_button\"]"

    private func putEvents(in path: String, of folder: CaptureFolder) throws {
        try folder.put("\(path)/Documents/eventArray-MozTelemetry-Default-focus-event.json", Self.events)
    }

    private func putClient(_ client: String, in path: String, of folder: CaptureFolder) throws {
        try folder.putPropertyList(
            "\(path)/Library/Preferences/org.mozilla.ios.Focus.plist", ["telemetry-key-prefix-clientId": client])
    }

    @Test(
        "Pending events that several paths lead to are one record, which has the most borrowed fields",
        arguments: [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    func pendingEvents(paths: [String]) async throws {
        let folder = try CaptureFolder()
        let client = "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083"
        for path in paths { try putEvents(in: path, of: folder) }
        try putClient(client, in: paths[1], of: folder)
        try putClient(client, in: paths[2], of: folder)
        try folder.put(
            "\(paths[2])/Documents/MozTelemetry-Default-focus-event/-t-1.json",
            CaptureFolder.ping(1, type: "focus-event"))
        let found = try await read([folder])
        let pending = found.records.filter { $0.held == [.pendingEvents] }
        #expect(pending.map(\.client) == [client])
        #expect(pending.map { $0.source.path.hasPrefix(paths[2]) } == [true])
        #expect(pending.first?.notes.first?.hasPrefix("PE borrowed from ping") == true)
        #expect(found.duplicateCount == 2)
    }

    @Test("Pending events of different clients, of different apps, or in different captures are different records")
    func differentPendingEvents() async throws {
        let clients = try CaptureFolder()
        for path in ["a", "b"] {
            try putEvents(in: path, of: clients)
            try putClient("client-\(path)", in: path, of: clients)
        }
        let found = try await read([clients])
        #expect(found.records.map(\.client) == ["client-a", "client-b"])
        #expect(found.duplicateCount == 0)

        let apps = try CaptureFolder()
        for app in ["Focus", "Klar"] { try putEvents(in: "AppDomain-org.mozilla.ios.\(app)", of: apps) }
        try putClient("client", in: "AppDomain-org.mozilla.ios.Focus", of: apps)
        #expect(try await read([apps]).records.map(\.client) == ["client", nil])

        let (first, second) = (try CaptureFolder(), try CaptureFolder())
        for folder in [first, second] { try putEvents(in: "a", of: folder) }
        try putClient("client", in: "a", of: second)
        #expect(try await read([first, second]).records.map(\.client) == [nil, "client"])
        #expect(try await read([second, first]).records.map(\.client) == ["client", nil])
    }

    @Test("Pending events of Glean that two directories contain are one record", arguments: ["a", "b"])
    func pendingEventsOfGlean(withClient path: String) async throws {
        let folder = try CaptureFolder()
        for path in ["a", "b"] {
            try folder.put("\(path)/glean_data/events/events", #"{"timestamp":1,"category":"a","name":"b"}"#)
        }
        try folder.put("\(path)/glean_data/client_id.txt", "a2f1f4b6-0d61-4bd1-9d4c-7f3b3c2e1d00")
        let found = try await read([folder])
        #expect(found.records.map(\.client) == ["a2f1f4b6-0d61-4bd1-9d4c-7f3b3c2e1d00"])
        #expect(found.duplicateCount == 1)
    }
}
