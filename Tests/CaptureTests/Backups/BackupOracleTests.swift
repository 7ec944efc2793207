import Capture
import Files
import JSONText
import Parallel
import Secrets
import Systems
import Telemetry
import TestSupport
import Testing

/// Every backup of the generator against its oracle, which opened none. The cases of "iOS backups", sections 10 and 11.
@Suite struct BackupOracleTests {
    /// Codes of notes that are left to the reader.
    private static let optionalNotes: Set = ["E15", "no-target"]

    /// What a command would be given for a case.
    static func open(_ fixture: BackupCase) async throws -> CapturedFolder {
        var bytes = Array((fixture.password ?? "").utf8)
        let opening = InputOpening(
            systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool(),
            passwords: BackupPasswords(bytes.isEmpty ? [] : [Secret(taking: &bytes)]))
        guard case .folder(let capture)? = try await opening.open([fixture.input]).first else {
            throw BackupCase.MissingCase(name: fixture.name)
        }
        return capture
    }

    /// Cases that are read, but for what comes on the standard input or from a file for a password.
    private static var readable: [BackupCase] {
        get throws {
            try BackupCase.all.filter { $0.error == nil && $0.standardInput == nil && $0.passwordFile == nil }
        }
    }

    @Test("a backup or a copy of a phone comes out as its oracle says", arguments: try readable)
    func matches(fixture: BackupCase) async throws {
        let oracle = try Oracle(
            FixtureCase(name: fixture.name, path: fixture.input, oraclePath: fixture.oraclePath, set: "backups"))
        let found = try await ReadCapture(Self.open(fixture))
        #expect(found.records.count == oracle.records.count)
        for (index, (record, expected)) in zip(found.records, oracle.records).enumerated() {
            try check(record, expected, index)
        }
        #expect(found.duplicates == oracle.duplicates)
        #expect(found.quarantined.map { Oracle.Refused($0) } == oracle.quarantined)
        let problems = Set(found.problems.map { "\($0.path) \($0.problem.code)" })
        #expect(problems == Set(oracle.problems))
    }

    private func check(_ record: Record, _ expected: Oracle.Expected, _ index: Int) throws {
        var line: [UInt8] = []
        record.write(to: &line)
        let document = try JSONDocument(line)
        for (key, text) in expected.texts {
            #expect(Oracle.text(of: key, in: document) == text, "record \(index), \(key)")
        }
        #expect(record.app.map { Oracle.text(of: $0) } ?? "null" == expected.app, "record \(index), app")
        #expect(record.held.map(\.code) == expected.held, "record \(index), held")
        let codes = Set(record.notes.map(\.code)).subtracting(Self.optionalNotes)
        #expect(codes == Set(expected.notes.map(\.code)), "record \(index), notes \(record.notes)")
    }

    @Test("a problem begins with the case that it is", arguments: try readable)
    func problemsNameTheirCases(fixture: BackupCase) async throws {
        let fields = try JSONFields(try InputFile(path: fixture.oraclePath).contents(limit: 64 << 20))
        let expected = try #require(fields.objects("problems")).map { entry in
            [entry.text("path"), entry.text("code"), entry.text("case")].map { $0 ?? "" }.joined(separator: " ")
        }
        let problems = try await ReadCapture(Self.open(fixture)).problems
        let found = Set(problems.map { [$0.path, $0.problem.code, $0.problem.text] })
        let cases = found.map { "\($0[0]) \($0[1]) \(Self.id(of: $0[2]))" }
        #expect(Set(cases) == Set(expected))
        #expect(cases.count == expected.count)
    }

    @Test("a link in a backup is a warning and not a loss")
    func linkIsNoLoss() async throws {
        let capture = try await Self.open(BackupCase.named("plain-link-row"))
        let links = try await ReadCapture(capture).problems.filter { $0.problem.code == "link" }
        #expect(links.map(\.problem.isLoss) == [false])
        #expect(links.map(\.problem.isWarning) == [true])
    }

    /// `B28` of `B28 the backup does not hold …`; nothing of other texts.
    private static func id(of text: String) -> String {
        let code = text.code
        return code.firstMatch(of: /^B\d+$/) == nil ? "" : code
    }

    @Test(
        "a backup is read with many jobs as with one", arguments: ["plain", "encrypted", "mobilesync", "backup-in-zip"])
    func jobs(name: String) async throws {
        let fixture = try BackupCase.named(name)
        let one = try await ReadCapture(Self.open(fixture), jobs: 1)
        let many = try await ReadCapture(Self.open(fixture), jobs: 8)
        #expect(one.lines.count > 0)
        #expect(one.lines == many.lines)
        #expect(one.problems == many.problems)
    }

    @Test("an encrypted backup gives the records of the same phone in a plain one")
    func encryptedIsPlain() async throws {
        let plain = try await ReadCapture(Self.open(BackupCase.named("plain")))
        let encrypted = try await ReadCapture(Self.open(BackupCase.named("encrypted")))
        #expect(plain.records.count > 0)
        #expect(plain.records.map(\.payload) == encrypted.records.map(\.payload))
        #expect(plain.records.map(\.source.path) == encrypted.records.map(\.source.path))
    }

    @Test("every case of the document has a capture")
    func allCasesAreThere() throws {
        let ids = Set(try BackupCase.all.flatMap(\.ids))
        #expect(ids == Set((1...46).map { "B\($0)" } + (1...10).map { "L\($0)" }))
        #expect(try BackupCase.all.count == 92)
    }
}
