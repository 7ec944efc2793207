import Foundation
import TestSupport
import Testing

/// Tests of the statements about the samples in samples/README.md.
@Suite struct SampleFolderTests {
    /// A row of the first table: capture, records, uploadable, held, quarantined, and exit status.
    private static func rows() throws -> [String: [String]] {
        let text = try String(contentsOfFile: "\(repository)/samples/README.md", encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        return Dictionary(rows.map { ($0[0].filter { $0 != "`" }, Array($0.dropFirst())) }) { first, _ in first }
    }

    /// Parses counts such as ``1 `pending-events`, 1 `no-target` ``.
    private static func counts(_ text: String) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: text.filter { $0 != "`" && $0 != "–" }.split(separator: ",").compactMap { part in
                let words = part.split(separator: " ")
                return Int(words[0]).map { (String(words[1]), $0) }
            })
    }

    @Test func tableListsAllSamples() throws {
        let entries = try FileManager.default.contentsOfDirectory(atPath: "\(repository)/samples")
        // The folders for audits, nightly jobs, analyses, readers, Python and clusters are not captures.
        let others = ["README.md", "analysis", "audit", "nightly", "python", "reader", "spark"]
        #expect(try Self.rows().keys.sorted() == entries.filter { !others.contains($0) }.sorted())
        #expect(try Self.rows().keys.sorted() == (samples + ["focus.zip", sampleBackup.name] + sampleLogs).sorted())
    }

    @Test(arguments: samples + ["focus.zip", sampleBackup.name] + sampleLogs) func tableMatchesSample(name: String)
        throws
    {
        let row = try #require(try Self.rows()[name])
        try #require(row.count == 5)
        var environment = ProcessInfo.processInfo.environment
        if name == sampleBackup.name { environment["PINGFERRY_BACKUP_PASSWORD"] = sampleBackup.password }
        let finished = try RunningProgram(
            [pingferryPath, "scan", "--json", sample(name)], environment: environment
        ).finish()
        let scanned = try finished.json()
        let totals = try #require(scanned["totals"] as? [String: Any])
        #expect(row[0] == "\(totals["records"] ?? "")")
        #expect(row[1] == "\(totals["uploadable"] ?? "")")
        #expect(Self.counts(row[2]) == totals["held"] as? [String: Int])
        let quarantined = try #require(scanned["quarantined"] as? [[String: Any]])
        let spans = quarantined.filter { $0["length"] is Int }.count
        let files = quarantined.count - spans
        let expected = Self.counts(row[3])
        #expect(files == (expected["files"] ?? expected["file"] ?? 0))
        #expect(spans == (expected["spans"] ?? expected["span"] ?? 0))
        #expect(row[4] == "\(finished.status)")
    }

    @Test(arguments: samples) func sampleIsNotChanged(name: String) throws {
        let folder = try TemporaryFolder()
        let before = try snapshot(sample(name))
        #expect(before.count > 5)
        try pingferry("scan", sample(name))
        try pingferry("convert", "-o", folder("a"), sample(name))
        try pingferry("bundle", "-o", folder("a.tar.zst"), sample(name))
        #expect(try snapshot(sample(name)) == before)
    }

    /// Returns the notes by the end of the file name of the ping.
    private func notes(_ name: String) throws -> [String: [String]] {
        let lines = try pingferry("convert", "-q", "-o", "-", sample(name)).lines
        return try Dictionary(
            lines.map { line in
                let record = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                let path = try #require((record["source"] as? [String: Any])?["path"] as? String)
                return (path, try #require(record["notes"] as? [String]))
            }, uniquingKeysWith: +)
    }

    private func codes(_ name: String) throws -> Set<String> {
        Set(try notes(name).values.joined().map { String($0.prefix { $0 != " " && $0 != ":" }) })
    }

    @Test func focusEventPingsStartWithPreviousRun() throws {
        let notes = try notes("focus")
        #expect(
            notes.filter { $0.value.contains { $0.hasPrefix("E13") } && $0.key.contains("-focus-event/") }.count == 2)
    }

    @Test func nullSearchesOfFirefoxAreNoted() throws {
        #expect(try codes("firefox").contains("C8"))
        #expect(try codes("firefox").contains("E13"))
    }

    @Test func extensionEventsOfFirefoxAreReported() throws {
        let scanned = try pingferry("scan", "--json", sample("firefox")).json()
        let problems = try #require(scanned["problems"] as? [[String: String]])
        #expect(problems.contains { $0["code"] == "extension-events" && $0["text"]?.hasPrefix("2 events") == true })
    }

    @Test func firefoxHasTwoClients() throws {
        let lines = try pingferry("convert", "-o", "-", sample("firefox")).lines
        let clients = lines.compactMap { $0.firstMatch(of: #/"client":"([^"]*)"/#)?.1 }
        #expect(Set(clients).count == 2)
    }

    @Test func damagedPingsHaveDocumentedResults() throws {
        let scanned = try pingferry("scan", "--json", sample("damaged")).json()
        let quarantined = try #require(scanned["quarantined"] as? [[String: Any]])
        let reasons = quarantined.compactMap { ($0["reason"] as? String)?.prefix { $0 != " " } }
        #expect(reasons == ["P1", "P2", "P12", "P5", "F5"])
        let cut = try #require(quarantined.first { ($0["reason"] as? String)?.hasPrefix("P2 ") == true })
        #expect(cut["offset"] as? Int == cut["size"] as? Int)
        #expect(try codes("damaged").isSuperset(of: ["C1", "C3", "C8"]))
    }
}
