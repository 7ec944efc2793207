import Foundation
import TestSupport
import Testing

/// Tests of the option `--pseudonymize` and the command `pseudonym-key`.
@Suite struct PseudonymCommandTests {
    private let folder: TemporaryFolder
    private let key: String

    init() throws {
        folder = try TemporaryFolder()
        key = try folder.put("a key that is no secret, for tests", "key", mode: 0o600)
    }

    private func records(_ name: String) throws -> [[String: Any]] {
        try folder.text(name).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func run(_ arguments: [String]) throws -> FinishedProgram {
        try RunningProgram([pingferryPath] + arguments).finish()
    }

    // MARK: Keys

    @Test func onlyOwnerCanReadNewKey() throws {
        let made = try pingferry("pseudonym-key", "-o", folder("new"))
        #expect(made.status == 0)
        let bytes = try folder.data("new")
        #expect(bytes.count == 32)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder("new"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(made.text.wholeMatch(of: /wrote .*new: pseudonym key [0-9a-f]{8}\n/) != nil)
        #expect(!made.text.contains(bytes.map { String(format: "%02x", $0) }.joined()))
        // Each key is different, and an existing key is not replaced.
        #expect(try pingferry("pseudonym-key", "-q", "-o", folder("other")).text == "")
        #expect(try folder.data("other") != bytes)
        #expect(try pingferry("pseudonym-key", "-o", folder("new")).status == 73)
        #expect(try folder.data("new") == bytes)
        #expect(try pingferry("pseudonym-key", "-o", "-").status == 64)
    }

    @Test func invalidKeysAreRejected() throws {
        let cases: [(name: String, contents: String, mode: Int, status: Int32)] = [
            ("open", String(repeating: "k", count: 32), 0o640, 78),
            ("short", String(repeating: "k", count: 31), 0o600, 78),
            ("long", String(repeating: "k", count: 4097), 0o600, 78), ("empty", "", 0o600, 78),
        ]
        for (name, contents, mode, status) in cases {
            try folder.put(contents, name, mode: mode)
            for command in ["convert", "bundle", "report"] {
                let finished = try pingferry(
                    command, "-o", folder("out"), "--pseudonymize", folder(name), sample("webxr"))
                #expect(finished.status == status, "\(name)")
                #expect(!finished.errors.contains("kkkk"))
            }
        }
        #expect(
            try pingferry("convert", "-o", folder("out"), "--pseudonymize", folder("no"), sample("webxr")).status == 66)
        #expect(
            try pingferry("convert", "-o", folder("out"), "--pseudonymize", folder.path, sample("webxr")).status != 0)
        #expect(!folder.names.contains("out"))
    }

    // MARK: Marks

    @Test func markedRecordsAreNeverUploaded() throws {
        let bundle = folder("a.tar.zst")
        let made = try pingferry(
            "bundle", "-o", bundle, "--json", "--pseudonymize", key, sample("webxr"), sample("shop"))
        let summary = try made.json()
        #expect(made.status == 0)
        let pseudonymized = try #require(summary["pseudonymized"] as? [String: Any])
        let keyID = try #require(pseudonymized["key"] as? String)
        #expect(keyID.wholeMatch(of: /[0-9a-f]{8}/) != nil)
        #expect((pseudonymized["dropped"] as? Int ?? 0) > 20)
        #expect(try pingferry("verify", bundle).lines.last == "pseudonymized with the key \(keyID)")
        #expect(try pingferry("verify", "--json", bundle).text.contains(#""pseudonymized":"\#(keyID)""#))
        #expect(try pingferry("list", bundle).lines.contains("pseudonymized with the key \(keyID)"))
        let listed = try pingferry("list", "--json", bundle).json()
        #expect(listed["pseudonymized"] as? String == keyID)
        let totals = try #require(listed["totals"] as? [String: Any])
        #expect(totals["uploadable"] as? Int == 0)
        #expect((totals["held"] as? [String: Int])?["pseudonymized"] == totals["records"] as? Int)
        // Neither a plan nor `release` lets them be sent.
        let ledger = folder("state/ledger.sqlite")
        let upload = #""$(dirname "$0")/pingferry-upload" "$@""#
        let plan = try shell(upload, ["--dry-run", "--json", "--ledger", ledger, bundle]).json()
        #expect((plan["sends"] as? [Any])?.isEmpty == true)
        let release = try shell(upload, ["release", "--reason", "pseudonymized", "--ledger", ledger, "x"])
        #expect(release.status == 64)
        #expect(release.errors.contains("records that are held as pseudonymized cannot be sent"))
    }

    @Test func payloadOnlyIsRejected() throws {
        let finished = try pingferry("convert", "-o", "-", "--payload-only", "--pseudonymize", key, sample("webxr"))
        #expect(finished.status == 64)
        #expect(finished.errors.contains("mark"))
    }

    @Test func omittedDataIsCounted() throws {
        let finished = try pingferry("convert", "-o", folder("out"), "--json", "--pseudonymize", key, sample("damaged"))
        #expect(finished.status == 1)
        #expect(finished.errorLines == ["pingferry: quarantined items omitted: 5 (F5 1, P1 1, P12 1, P2 1, P5 1)"])
        let json = try finished.json()
        #expect(json["quarantineCounts"] as? [String: Int] == ["F5": 1, "P1": 1, "P12": 1, "P2": 1, "P5": 1])
        #expect((json["quarantined"] as? [Any])?.isEmpty == true)
        #expect(json["complete"] as? Bool == false)
    }

    // MARK: Equal values

    @Test func equalIDsHaveEqualPseudonyms() throws {
        for name in ["focus", "focus.zip"] {
            _ = try pingferry("convert", "-q", "-o", folder(name), "--pseudonymize", key, sample(name))
        }
        func ids(_ name: String) throws -> [[String]] {
            try records(name).map { ["\($0["id"] ?? "")", "\($0["client"] ?? "")"] }
        }
        #expect(try ids("focus").count == 7)
        #expect(try ids("focus") == ids("focus.zip"))
        // With another key, no pseudonyms are equal.
        try folder.put(String(repeating: "z", count: 40), "other", mode: 0o600)
        _ = try pingferry("convert", "-q", "-o", folder("z"), "--pseudonymize", folder("other"), sample("focus"))
        #expect(Set(try ids("focus").joined()).isDisjoint(with: try ids("z").joined()))
    }

    @Test func outputDependsOnlyOnInputAndKey() throws {
        for jobs in ["1", "3"] {
            _ = try pingferry(
                "bundle", "-q", "-j", jobs, "-o", folder("\(jobs).tar.zst"), "--pseudonymize", key, sample("firefox"),
                sample("shop"), sample("leanplum"))
        }
        #expect(try folder.data("1.tar.zst") == folder.data("3.tar.zst"))
    }

    @Test func recordsAreUnchangedWithoutOption() throws {
        let plain = try pingferry("convert", "-q", "-o", "-", sample("shop")).text
        #expect(!plain.contains("pseudonym"))
        _ = try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("shop"))
        let manifest = try tool("tar", "--zstd", "-xOf", folder("a.tar.zst"), "manifest.json")
        #expect(!manifest.contains("pseudonym"))
    }

    // MARK: Times

    @Test func coarsenTimesRequiresKey() throws {
        for command in ["convert", "bundle", "report"] {
            let finished = try pingferry(command, "-o", folder("out"), "--coarsen-times", "day", sample("webxr"))
            #expect(finished.status == 64)
            #expect(finished.errors.contains("--coarsen-times requires --pseudonymize"))
            let unknown = try pingferry(
                command, "-o", folder("out"), "--pseudonymize", key, "--coarsen-times", "week", sample("webxr"))
            #expect(unknown.status == 64)
        }
        #expect(!folder.names.contains("out"))
    }

    @Test(arguments: [("hour", 3_600_000), ("day", 86_400_000)])
    func timesAreRounded(unit: String, milliseconds: Int) throws {
        let options = ["--pseudonymize", key, "--coarsen-times", unit, sample("webxr"), sample("shop")]
        _ = try run(["convert", "-q", "-o", folder("out.ndjson")] + options)
        let lines = try records("out.ndjson")
        #expect(lines.count == 12)
        for line in lines {
            #expect((line["notes"] as? [String])?.contains("times-coarsened \(unit)") == true)
            // Pending events have no time.
            guard let time = line["time"] as? String else { continue }
            #expect(time.hasSuffix(unit == "hour" ? ":00:00.000Z" : "T00:00:00.000Z"))
        }
        let made = try run(["convert", "--json", "-o", folder("out.sqlite")] + options).json()
        #expect((made["pseudonymized"] as? [String: Any])?["times"] as? String == unit)
        func query(_ text: String) throws -> String {
            try tool("sqlite3", folder("out.sqlite"), text).trimmingCharacters(in: .newlines)
        }
        #expect(try query("SELECT value FROM meta WHERE key = 'times'") == unit)
        #expect(try query("SELECT count(*) FROM records WHERE time_ms % \(milliseconds) <> 0") == "0")
        #expect(try query("SELECT count(*) FROM events WHERE time_ms % \(milliseconds) <> 0") == "0")
        _ = try run(["bundle", "-q", "-o", folder("a.tar.zst")] + options)
        #expect(try pingferry("verify", "-q", folder("a.tar.zst")).status == 0)
        #expect(try pingferry("convert", "-q", "-o", "-", folder("a.tar.zst")).output == folder.data("out.ndjson"))
        _ = try run(["report", "-q", "-o", folder("page.html")] + options)
        #expect(try folder.text("page.html").contains("Times are rounded down to the \(unit)."))
    }

    @Test("The metadata and the dropped duplicates of an export contain no ids")
    func exportedMetadata() throws {
        let client = "C7E0E6CF-CC24-4D0A-B489-03A20AEDFA5C"
        let second = try folder.copySample("webxr", to: "second")
        let made = try run(
            ["convert", "--json", "-o", folder("out.sqlite"), "--pseudonymize", key, "--client", client]
                + [sample("webxr"), second])
        let keyID = try #require((try made.json()["pseudonymized"] as? [String: Any])?["key"] as? String)
        func query(_ text: String) throws -> String {
            try tool("sqlite3", folder("out.sqlite"), text).trimmingCharacters(in: .newlines)
        }
        #expect(
            try query("SELECT value FROM meta WHERE key IN ('filters', 'pseudonym_key') ORDER BY key")
                == "{\"client\":[]}\n\(keyID)")
        // The order of the dropped records would reveal that of the captures.
        #expect(try query("SELECT (SELECT count(*) FROM repeats), count(*) > 0 FROM records") == "0|1")
        let text = String(decoding: try folder.data("out.sqlite"), as: UTF8.self).lowercased()
        #expect(!text.contains(client.lowercased()) && !text.contains("moztelemetry"))
    }

    @Test func timesAreKeptByDefault() throws {
        let options = ["--pseudonymize", key, sample("webxr")]
        let made = try run(["convert", "--json", "-o", folder("out.sqlite")] + options)
        #expect(!made.text.contains("times"))
        #expect(try tool("sqlite3", folder("out.sqlite"), "SELECT * FROM meta WHERE key = 'times'") == "")
        let plain = try pingferry("convert", "-q", "-o", "-", sample("webxr")).lines
        let records = try run(["convert", "-q", "-o", "-"] + options).lines
        #expect(!records.joined().contains("times-coarsened"))
        func times(_ lines: [String]) throws -> [String] {
            try lines.map { try #require($0.firstMatch(of: /"time":("[^"]*"|null)/)?.1).description }
        }
        #expect(try times(plain).sorted() == times(records).sorted())
    }

    /// With exact times, the clients in data with different keys can be matched.
    @Test func recordsWithDifferentKeysCannotBeMatchedByTime() throws {
        let line = try #require(try pingferry("convert", "-q", "-o", "-", sample("webxr")).lines.first)
        let client = try #require(line.firstMatch(of: /"clientId":"([^"]*)"/)?.1)
        // Each client has one record, which is at another minute of the same hour.
        let lines = (10..<60).map { number in
            line.replacing(client, with: "\(client.dropLast(2))\(number)")
                .replacing(/"time":"[^"]*"/, with: #""time":"2018-05-24T12:\#(number):07.123Z""#)
        }
        try folder.put(lines.joined(separator: "\n") + "\n", "all.ndjson")
        try folder.put(String(repeating: "z", count: 40), "other", mode: 0o600)
        func times(_ key: String, _ options: [String]) throws -> [String: String] {
            _ = try run(
                ["convert", "-q", "--force", "-o", folder("out"), "--pseudonymize", key] + options
                    + [folder("all.ndjson")])
            var times: [String: String] = [:]
            for record in try records("out") { times["\(record["client"] ?? "")"] = "\(record["time"] ?? "")" }
            return times
        }
        let exact = [try times(key, []), try times(folder("other"), [])]
        #expect(exact[0].count == 50 && Set(exact[0].values).count == 50)
        #expect(Set(exact[0].values) == Set(exact[1].values) && Set(exact[0].keys).isDisjoint(with: exact[1].keys))
        let options = ["--coarsen-times", "hour"]
        let rounded = [try times(key, options), try times(folder("other"), options)]
        #expect(rounded[0].count == 50 && Set(rounded[0].values).count == 1)
        #expect(Set(rounded[0].values) == Set(rounded[1].values))
    }

    // MARK: The order of records

    /// A comparison of the orders of rows in two exports, as `link_rows.py` prints it.
    private struct LinkedRows: Decodable {
        let clients: Int
        let groups: Int
        let matches: Int
        let correlation: Double
        let pairs: Int
        let same: Double
    }

    @Test("Clients and records in exports with different keys cannot be linked by the positions of their rows")
    func positions() throws {
        let output = try tool(["python3", fixture("link_rows.py"), pingferryPath, folder.path])
        let results = try JSONDecoder().decode([String: LinkedRows].self, from: output)
        let tables = [
            "attributes", "clients", "core", "events", "gaps", "holds", "metrics", "notes", "records", "searches",
            "sift_states",
        ]
        // CSV has the same rows as SQLite.
        let names = tables.map { "sqlite \($0)" }
        #expect(Set(results.keys) == Set(names + ["ndjson lines", "timeline lines", "bundle lines", "report page"]))
        for (name, rows) in results {
            #expect(rows.clients > 1, "\(name)")
            // By chance, one client of each group is at the same position. All of them are if the order is that of the captures.
            #expect(rows.matches <= rows.groups + 5 + rows.groups / 2, "\(name): \(rows)")
            #expect(abs(rows.correlation) < 4 / Double(rows.clients - rows.groups).squareRoot(), "\(name): \(rows)")
            #expect(rows.pairs < 100 || (0.4...0.6).contains(rows.same), "\(name): \(rows)")
        }
        #expect(try #require(results["ndjson lines"]).clients > 300)
        #expect(try #require(results["ndjson lines"]).pairs > 10_000)
        try checkUniqueClients(folder("0-out.sqlite"))
    }

    /// Source: "Pseudonyms", section "What pseudonyms protect against, and what they do not".
    private func checkUniqueClients(_ database: String) throws {
        let query = """
            SELECT count(*) * 2 > (SELECT count(*) FROM clients) FROM (SELECT 1 FROM clients
            GROUP BY system, app_id, app_version, records, uploadable, events, first, last HAVING count(*) = 1)
            """
        #expect(try tool("sqlite3", database, query) == "1\n")
    }

    @Test("The order of records depends only on the key and the records")
    func orderOfInputs() throws {
        let inputs = [sample("focus"), sample("firefox"), sample("shop"), sample("leanplum")]
        func lines(_ inputs: [String], _ options: String...) throws -> [String] {
            let finished = try run(["convert", "-q", "-o", "-", "--pseudonymize", key] + options + inputs)
            return finished.lines
        }
        let expected = try lines(inputs)
        #expect(expected.count > 20)
        #expect(try lines(inputs.reversed()) == expected)
        #expect(try lines(inputs, "-j", "1") == expected)
        // The numbers of records follow the same order.
        _ = try run(["convert", "-q", "-o", folder("a.sqlite"), "--pseudonymize", key] + inputs)
        let ids = try tool("sqlite3", folder("a.sqlite"), "SELECT id FROM records ORDER BY record")
        let expectedIDs = try expected.map { line in
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return try #require(record["id"] as? String)
        }
        #expect(ids.split(separator: "\n").map(String.init) == expectedIDs)
    }

    @Test(
        "If the disk is full while records are sorted, nothing is written",
        .enabled(if: SmallDisk.isSupported, "only root can mount a file system"), arguments: ["convert", "bundle"])
    func fullTemporaryDisk(command: String) throws {
        let load = try SharedCaptures.load(pings: 9000, containers: 40)
        let disk = try SmallDisk(kibibytes: 2048)
        let finished = try shell(
            #"TMPDIR="$1" "$0" "$2" -q -o "$3" --pseudonymize "$4" "$5""#,
            [disk.path, command, folder("out"), key, load])
        #expect(finished.status == 74)
        #expect(
            finished.errorLines == [
                "pingferry: cannot spool to temporary files: No space left on device",
                "hint: set TMPDIR to a folder on a disk with enough free space",
            ], "\(finished.errors)")
        #expect(folder.names == ["key"])
        #expect(disk.names == [])
    }

    // MARK: Repeated pseudonymization

    @Test func recordsWithSameKeyAreUnchanged() throws {
        let first = folder("first.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", first, "--pseudonymize", key, sample("focus"))
        let again = try pingferry("bundle", "-q", "-o", folder("again.tar.zst"), "--pseudonymize", key, first)
        #expect(again.status == 0)
        func digest(_ name: String) throws -> String? {
            try pingferry("list", "--json", folder(name)).json()["digest"] as? String
        }
        #expect(try digest("again.tar.zst") == digest("first.tar.zst"))
        #expect(
            try pingferry("convert", "-o", "-", folder("again.tar.zst")).output
                == pingferry("convert", "-o", "-", first).output)
        // The same capture adds no records.
        let both = try pingferry(
            "bundle", "--json", "-o", folder("both.tar.zst"), "--pseudonymize", key, first, sample("focus"))
        #expect(try both.json()["duplicates"] as? Int == 7)
        #expect(try pingferry("verify", "-q", folder("both.tar.zst")).status == 0)
        // The same holds for NDJSON.
        _ = try pingferry("convert", "-q", "-o", folder("a.ndjson"), "--pseudonymize", key, sample("focus"))
        _ = try pingferry("convert", "-q", "-o", folder("b.ndjson"), "--pseudonymize", key, folder("a.ndjson"))
        #expect(try folder.data("a.ndjson") == folder.data("b.ndjson"))
    }

    @Test func recordsWithAnotherKeyAreRejected() throws {
        try folder.put(String(repeating: "z", count: 40), "other", mode: 0o600)
        let first = folder("first.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", first, "--pseudonymize", key, sample("webxr"))
        for command in ["bundle", "convert"] {
            let finished = try pingferry(command, "-o", folder("out"), "--pseudonymize", folder("other"), first)
            #expect(finished.status == 65)
            #expect(finished.errors.contains("first.tar.zst: it has pseudonyms of the key "))
            #expect(!folder.names.contains("out"))
        }
    }

    @Test func mergedBundleKeepsMarks() throws {
        let pseudonymized = folder("p.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", pseudonymized, "--pseudonymize", key, sample("webxr"))
        _ = try pingferry("bundle", "-q", "-o", folder("q.tar.zst"), "--pseudonymize", key, sample("shop"))
        _ = try pingferry("bundle", "-q", "-o", folder("plain.tar.zst"), sample("shop"))
        // If all records have pseudonyms, the manifest is marked too.
        _ = try pingferry("bundle", "-q", "-o", folder("pq.tar.zst"), pseudonymized, folder("q.tar.zst"))
        let keyID = try #require(try pingferry("list", "--json", pseudonymized).json()["pseudonymized"] as? String)
        #expect(try pingferry("list", "--json", folder("pq.tar.zst")).json()["pseudonymized"] as? String == keyID)
        #expect(try pingferry("verify", "-q", folder("pq.tar.zst")).status == 0)
        // If some records have no pseudonyms, only the records are marked.
        _ = try pingferry("bundle", "-q", "-o", folder("mixed.tar.zst"), pseudonymized, folder("plain.tar.zst"))
        let mixed = try pingferry("list", "--json", folder("mixed.tar.zst")).json()
        #expect(mixed["pseudonymized"] is NSNull)
        let totals = try #require(mixed["totals"] as? [String: Any])
        #expect((totals["held"] as? [String: Int])?["pseudonymized"] == 6)
        #expect(totals["uploadable"] as? Int == 6)
        #expect(try pingferry("verify", "-q", folder("mixed.tar.zst")).status == 0)
    }

    @Test func recordsDifferingInOmittedDataAreDuplicates() throws {
        let line = try #require(try pingferry("convert", "-q", "-o", "-", sample("focus")).lines.first)
        // Both records have the same id, and differ only in services, which are omitted.
        let lines = ["a", "b"].map { name in
            line.replacing(#""payload":{"arch""#, with: #""payload":{"accessibilityServices":["\#(name)"],"arch""#)
        }
        #expect(Set(lines + [line]).count == 3)
        try folder.put(lines.joined(separator: "\n") + "\n", "a.ndjson")
        let plain = try pingferry("bundle", "--json", "-o", folder("plain.tar.zst"), folder("a.ndjson")).json()
        #expect(plain["duplicates"] as? Int == 0)
        let made = try pingferry(
            "bundle", "--json", "-o", folder("a.tar.zst"), "--pseudonymize", key, folder("a.ndjson"))
        #expect(try made.json()["duplicates"] as? Int == 1)
        #expect(try pingferry("verify", "-q", folder("a.tar.zst")).status == 0)
        // A remaining difference is noted with only its code.
        let other = line.replacing(#""durations":96"#, with: #""durations":97"#)
        try folder.put("\(line)\n\(other)\n", "b.ndjson")
        _ = try pingferry("convert", "-q", "-o", folder("b"), "--pseudonymize", key, folder("b.ndjson"))
        let notes = try records("b").map { try #require($0["notes"] as? [String]) }
        #expect(notes.count == 2)
        #expect(notes.last?.first == "P11")
        #expect(notes.first?.contains("P11") == false)
    }

    @Test func salvageOmitsDetailsOfDamage() throws {
        _ = try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("webxr"))
        let whole = try folder.data("a.tar.zst")
        try whole.prefix(whole.count * 2 / 3).write(to: URL(fileURLWithPath: folder("cut-of-anna.tar.zst")))
        let finished = try pingferry(
            "convert", "--salvage", "-q", "-o", folder("out"), "--pseudonymize", key, folder("cut-of-anna.tar.zst"))
        #expect(finished.status == 1)
        #expect(finished.errors.wholeMatch(of: /pingferry: problems omitted: \d+ \(damaged \d+\)\n/) != nil)
        #expect(try records("out").count == 6)
        #expect(try !folder.text("out").contains("anna"))
    }
}
