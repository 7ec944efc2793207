import Bytes
import Files
import Mozilla
import Telemetry
import TestSupport
import Testing

@testable import Bundle

@Suite struct DetailTests {
    private static func problem(_ number: Int, size: Int = 1) -> LocatedProblem {
        LocatedProblem(
            capture: "phone", path: "p\(number)", problem: Problem("link", String(repeating: "x", count: size)))
    }

    @Test func longListIsSplitBetweenLines() {
        var members = DetailMemberBuilder(BundleLayout.quarantine, sizeGoal: 8)
        var closed: [DetailMemberBuilder.Member] = []
        for line in ["abc", "def", "g", "a line longer than that", "h"] {
            if let member = members.add(Array(line.utf8)) { closed.append(member) }
        }
        closed.append(members.currentMember)
        #expect(
            closed.map(\.name) == [
                "quarantine.ndjson", "quarantine.000002.ndjson", "quarantine.000003.ndjson", "quarantine.000004.ndjson",
            ])
        #expect(
            closed.map { String(decoding: $0.contents, as: UTF8.self) }
                == ["abc\ndef\n", "g\n", "a line longer than that\n", "h\n"])
    }

    @Test func emptyListIsOneEmptyMember() {
        #expect(DetailMemberBuilder(BundleLayout.problems).currentMember.contents == [])
        #expect(DetailMemberBuilder(BundleLayout.problems).currentMember.name == "problems.ndjson")
    }

    @Test(arguments: [
        ("quarantine.ndjson", "quarantine.ndjson"), ("clients.000002.ndjson", "clients.ndjson"),
        ("problems.1234567.ndjson", "problems.ndjson"), ("clients.000001.ndjson", nil), ("clients.2.ndjson", nil),
        ("clients.-00002.ndjson", nil), ("clients.ndjson.ndjson", nil), ("x.ndjson", nil), ("clients.", nil),
    ])
    func memberNamesIdentifyTheirList(name: String, list: String?) {
        #expect(BundleLayout.listName(ofMember: name) == list)
    }

    @Test(arguments: [1, 40, 1 << 20]) func spilledLinesAreReturnedInOrder(bufferLimit: Int) throws {
        let folder = try TemporaryFolder()
        var spill = DetailSpill(folder: folder.path, bufferLimit: bufferLimit)
        let lines = [0, 1, 3, 100, 0, 5000, 2].enumerated().map { number, size in
            [UInt8](repeating: UInt8(number), count: size)
        }
        let places = try lines.enumerated().map { try spill.append($1, tag: $0 * 1_000_000) }
        var found: [(line: [UInt8], tag: Int)] = []
        try spill.forEach { found.append((Array($0), $1)) }
        #expect(found.map(\.line) == lines)
        #expect(found.map(\.tag) == lines.indices.map { $0 * 1_000_000 })
        for (number, place) in places.enumerated() { #expect(try spill.entry(at: place).line == lines[number]) }
        #expect(spill.count == lines.count)
        #expect(folder.names == [], "the file has no name")
    }

    @Test func longListsAreReadAndVerified() async throws {
        let problems = (0..<50).map { Self.problem($0, size: 200_000) }
        let (bytes, manifest, _) = try await SampleBundle.pack([SampleBundle.record(1)], problems: problems)
        let members = manifest.otherMembers.filter { BundleLayout.listName(ofMember: $0.path) == BundleLayout.problems }
        #expect(members.map(\.path) == ["problems.ndjson", "problems.000002.ndjson", "problems.000003.ndjson"])
        #expect(members.allSatisfy { $0.bytes <= 4 << 20 })
        #expect(try await SampleBundle.verify(bytes) == manifest.digest)
        #expect(try SampleBundle.details(BundleLayout.problems, of: bytes) == problems)
    }

    @Test func manyClientsAreVerified() async throws {
        let filling = String(repeating: "x", count: 2000)
        let records = (0..<2500).map { SampleBundle.record($0, client: "\($0)\(filling)", payloadSize: 10) }
        let (bytes, manifest, _) = try await SampleBundle.pack(records)
        #expect(manifest.otherMembers.contains { $0.path == "clients.000002.ndjson" })
        #expect(try await SampleBundle.verify(bytes) == manifest.digest)
        let clients: [ClientSummary] = try SampleBundle.details(BundleLayout.clients, of: bytes)
        #expect(clients.count == records.count)
    }

    @Test("Each client has one number, regardless of the number and the lengths of the ids")
    func manyClients() {
        var clients = ClientIndex()
        let ids = [nil, "", String(repeating: "x", count: 100_000)] + (0..<5000).map { "Client-\($0)" }
        for (number, id) in ids.enumerated() {
            #expect(clients.existingNumber(of: id, system: .mozilla) == nil)
            #expect(clients.number(of: id, system: .mozilla) == number)
        }
        for (number, id) in ids.enumerated() {
            #expect(clients.number(of: id?.uppercased(), system: .mozilla) == number)
            #expect(clients.existingNumber(of: id?.lowercased(), system: .mozilla) == number)
            #expect(clients.id(ofClient: number) == id)
        }
        #expect(clients.existingNumber(of: "Client-1", system: .sift) == nil)
        #expect(clients.count == ids.count)
    }

    @Test("Clients are sorted, and those that differ only in the case of ASCII letters are combined")
    func clientOrder() throws {
        func folded(_ id: String?) -> [UInt8]? { id?.utf8.map(\.lowercased) }
        var clients = ClientSummaries()
        let ids = ["b", "B", nil, "É", "a", "e\u{301}", "", "A", "é", "Z", "\u{37E}", ";"]
        for (number, id) in ids.enumerated() { clients.count(RecordSummary(SampleBundle.record(number, client: id))) }
        let expected = Dictionary(grouping: ids, by: folded)
        let sorted = clients.sortedNumbers.map { clients.summary(ofClient: $0) }
        #expect(sorted.count == expected.count)
        for client in sorted { #expect(client.recordCount == expected[folded(client.client)]?.count) }
        let keys = sorted.map { folded($0.client) ?? [] }
        #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
        #expect(sorted.first?.client == nil)
        #expect(sorted.allSatisfy { $0.recordCountsByType == ["core": $0.recordCount] && $0.apps == ["Focus"] })
    }

    @Test func memberBeyondTheLimitOfReadersIsNotWritten() async throws {
        let size = BundleLayout.memberSizeLimit + 1
        var assembler = try BundleAssembler(level: 1, toolVersion: "1", limit: JobLimit(jobs: 1))
        assembler.add(
            RecordSummary(SampleBundle.record(1)), line: [UInt8](repeating: UInt8(ascii: "x"), count: size)[...])
        let error = await #expect(throws: ContainerWriteError.self) {
            try await assembler.add(QuarantineSpill(folder: "/tmp"), contents: { _, _ in [] }, to: { _ in })
        }
        #expect(error == .overLimit(name: "records/000001.ndjson", BundleLayout.memberSizeLimit))
    }

    @Test func quarantinedBytesBeyondTheLimitAreOnlyListed() async throws {
        let bytes: [[UInt8]] = [[3], [1], [3], [2], [4], [1]]
        let (bundle, manifest, lost) = try await SampleBundle.pack(
            [], quarantined: bytes, limits: QuarantineLimits(entryCountLimit: 2))
        #expect(lost.map(\.path) == ["Documents/bad-3", "Documents/bad-4"])
        #expect(manifest.otherMembers.count { $0.path.hasPrefix("quarantine/") } == 2)
        let listed: [QuarantineEntry] = try SampleBundle.details(BundleLayout.quarantine, of: bundle)
        #expect(listed.map(\.isStored) == [true, true, true, false, false, true])
        #expect(try await SampleBundle.verify(bundle) == manifest.digest)
    }

    @Test func sizesFromBundlesCannotOverflowTheLimits() throws {
        let hash = PayloadHash.hex(of: [1])
        let entries = [Int.max, -1, 5, Int.min].map { size in
            QuarantineEntry(
                capture: "c", path: "p\(size)", store: .mozillaPingFile, reject: Reject("P1 x"), size: size,
                sha256: hash, isStored: true)
        }
        let limits = QuarantineLimits(entrySizeLimit: .max, totalSizeLimit: 10)
        let spill = try SampleBundle.spill(entries, within: limits)
        #expect(spill.storedEntries.map(\.verdict) == [.tooLarge, .tooLarge, .stored, .stored])
        #expect(spill.remainingSize == 5)
    }
}
