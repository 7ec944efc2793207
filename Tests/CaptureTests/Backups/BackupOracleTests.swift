import Capture
import Files
import Hashing
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// Compares every backup with its oracle, which does not read backups.
///
/// The cases are those of "iOS backups", sections 10 and 11.
@Suite struct BackupOracleTests {
    /// The codes of notes that readers may omit.
    private static let optionalNotes: Set = ["E15", "no-target"]

    /// Opens a case as a command would.
    static func open(_ fixture: BackupCase) async throws -> CapturedFolder {
        var bytes = Array((fixture.password ?? "").utf8)
        let opening = InputOpener(
            systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool(),
            passwords: BackupPasswords(bytes.isEmpty ? [] : [Secret(taking: &bytes)]))
        guard case .folder(let capture)? = try await opening.open([fixture.input]).first else {
            throw BackupCase.MissingCase(name: fixture.name)
        }
        return capture
    }

    /// The cases that can be read, except for those that need standard input or a password file.
    private static var readable: [BackupCase] {
        get throws {
            try BackupCase.all.filter { $0.error == nil && $0.standardInput == nil && $0.passwordFile == nil }
        }
    }

    @Test("A backup or a copy of a phone yields the results that its oracle lists", arguments: try readable)
    func matches(fixture: BackupCase) async throws {
        let oracle = try Oracle(
            FixtureCase(name: fixture.name, path: fixture.input, oraclePath: fixture.oraclePath))
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

    @Test("The text of a problem begins with its case", arguments: try readable)
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

    @Test("A link in a backup is a warning, not a loss")
    func linkIsNoLoss() async throws {
        let capture = try await Self.open(BackupCase.named("plain-link-row"))
        let links = try await ReadCapture(capture).problems.filter { $0.problem.code == "link" }
        #expect(links.map(\.problem.isLoss) == [false])
        #expect(links.map(\.problem.isWarning) == [true])
    }

    /// Returns the case at the start of a text, such as `B28`, or an empty string.
    private static func id(of text: String) -> String {
        let code = text.code
        return code.firstMatch(of: /^B\d+$/) == nil ? "" : code
    }

    @Test(
        "A backup yields the same results with many jobs as with one",
        arguments: ["plain", "encrypted", "mobilesync", "backup-in-zip"])
    func jobs(name: String) async throws {
        let fixture = try BackupCase.named(name)
        let one = try await ReadCapture(Self.open(fixture), jobs: 1)
        let many = try await ReadCapture(Self.open(fixture), jobs: 8)
        #expect(one.lines.count > 0)
        #expect(one.lines == many.lines)
        #expect(one.problems == many.problems)
    }

    @Test("An encrypted backup yields the same records as a plain backup of the same phone")
    func encryptedIsPlain() async throws {
        let plain = try await ReadCapture(Self.open(BackupCase.named("plain")))
        let encrypted = try await ReadCapture(Self.open(BackupCase.named("encrypted")))
        #expect(plain.records.count > 0)
        #expect(plain.records.map(\.payload) == encrypted.records.map(\.payload))
        #expect(plain.records.map(\.source.path) == encrypted.records.map(\.source.path))
    }

    @Test("Every case of the document has a capture")
    func allCasesAreThere() throws {
        let ids = Set(try BackupCase.all.flatMap(\.ids))
        #expect(ids == Set((1...46).map { "B\($0)" } + (1...10).map { "L\($0)" }))
        #expect(try BackupCase.all.count == 93)
    }
}
