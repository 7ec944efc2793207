import Foundation
import TestSupport
import Testing

/// Tests that no output contains values that identify people.
@Suite struct PseudonymLeakTests {
    private let folder: TemporaryFolder
    private let key: String

    /// A label that occurs nowhere else.
    private static let label = "kapture-of-anna"
    /// The names of outputs in the formats that have tables, and of a timeline.
    private static let tableNames = ["out.sqlite", "out.csv", "out.parquet", "out.timeline.jsonl"]

    init() throws {
        folder = try TemporaryFolder()
        key = try folder.put("a key that is no secret, for tests", "key", mode: 0o600)
    }

    private func run(_ arguments: [String], password: String?) throws -> FinishedProgram {
        var environment = ProcessInfo.processInfo.environment
        environment["PINGFERRY_BACKUP_PASSWORD"] = password
        return try RunningProgram([pingferryPath] + arguments, environment: environment).finish()
    }

    /// Runs a command, stores its output in files, and returns the names of all files that it writes.
    private func keep(_ name: String, _ arguments: [String], password: String?) throws -> [String] {
        let finished = try run(arguments, password: password)
        try finished.output.write(to: URL(fileURLWithPath: folder("\(name).output")))
        try Data(finished.errors.utf8).write(to: URL(fileURLWithPath: folder("\(name).errors")))
        return ["\(name).output", "\(name).errors"]
    }

    /// Writes the outputs of all commands for an input, and returns the names of the files.
    private func outputs(of input: String, password: String?, tables: [String] = Self.tableNames) throws -> [String] {
        let options = ["--label", Self.label, "--pseudonymize", key, input]
        let (ndjson, bundle) = (folder("out.ndjson"), folder("a.tar.zst"))
        var files = ["out.ndjson"]
        files += try keep("plain", ["convert", "-o", "-"] + options, password: password)
        files += try keep("labels", ["convert", "-o", ndjson, "--labels", "--json"] + options, password: password)
        files += try keep("bundle", ["bundle", "-o", bundle, "--json"] + options, password: password)
        files += try keep("list", ["list", "--json", bundle], password: password)
        files += try keep("report", ["report", "-o", folder("page.html"), "--json"] + options, password: password)
        files.append("page.html")
        for name in tables {
            _ = try run(["convert", "-q", "-o", folder(name)] + options, password: password)
            files.append(name)
        }
        try tool(["tar", "--zstd", "-xOf", bundle]).write(to: URL(fileURLWithPath: folder("members")))
        try tool(["tar", "--zstd", "-tf", bundle]).write(to: URL(fileURLWithPath: folder("names")))
        let printed = try folder.data("plain.output").count
        #expect(printed > 200)
        #expect(try folder.data("members").count > printed)
        return files + ["members", "names"]
    }

    /// Searches for the values of an input in all outputs.
    ///
    /// `least` is the minimum number of values, so that the search is not vacuous.
    private func check(_ input: String, password: String? = nil, least: Int) throws {
        let label = ["--label", Self.label]
        _ = try keep("records", ["convert", "-q", "-o", "-", input] + label, password: password)
        _ = try keep("scan", ["scan", "--json", input] + label, password: password)
        let files = try outputs(of: input, password: password)
        let found = try tool(
            ["python3", fixture("find_leaks.py"), Self.label, folder("records.output"), folder("scan.output")]
                + files.map { folder($0) })
        let result = try #require(try JSONSerialization.jsonObject(with: found) as? [String: Any])
        let leaks = try #require(result["leaks"] as? [String: [String]])
        #expect(leaks == [:])
        #expect(result["values"] as? Int ?? 0 >= least)
        #expect(try pingferry("verify", "-q", folder("a.tar.zst")).status == 0)
    }

    @Test(arguments: samples + ["focus.zip"] + sampleLogs) func samplesHaveNoLeaks(name: String) throws {
        try check(sample(name), least: 10)
    }

    @Test func backupHasNoLeaks() throws {
        try check(sample(sampleBackup.name), password: sampleBackup.password, least: 5)
    }

    @Test(arguments: ["mozilla", "glean", "leanplum", "sift"])
    func capturesHaveNoLeaks(name: String) throws {
        try check(try SharedCaptures.unpacked(name), least: 60)
    }

    @Test("A value that identifies a person is omitted from every string, key and target")
    func plantedValuesAreOmitted() throws {
        let inputs = (samples + sampleLogs).map { sample($0) }
        _ = try keep("records", ["convert", "-q", "-o", "-"] + inputs, password: nil)
        let secrets = try tool(
            "python3", fixture("plant_values.py"), folder("records.output"), folder("planted.ndjson"))
        try folder.put(secrets, "secrets")
        // CSV and Parquet have the same cells as SQLite.
        let files = try outputs(
            of: folder("planted.ndjson"), password: nil, tables: ["out.sqlite", "out.timeline.jsonl"])
        #expect(try folder.text("out.ndjson").split(separator: "\n").count > 1000)
        let found = try tool(
            ["python3", fixture("find_leaks.py"), "--values", folder("secrets")] + files.map { folder($0) })
        let result = try #require(try JSONSerialization.jsonObject(with: found) as? [String: Any])
        #expect(result["leaks"] as? [String: [String]] == [:])
        #expect(result["values"] as? Int == secrets.split(separator: "\n").count)
    }

    /// The search finds values in each format that has tables.
    @Test func searchFindsPlantedValues() throws {
        try folder.put("ERASE_BUTTON\nanna\n", "secrets")
        for name in Self.tableNames + ["out.ndjson"] {
            _ = try pingferry("convert", "-q", "-o", folder(name), sample("focus"))
            let found = try tool("python3", fixture("find_leaks.py"), "--values", folder("secrets"), folder(name))
            #expect(found.contains(#"["erase_button"]"#), "\(name)")
        }
    }

    /// The search finds values in outputs without pseudonyms.
    @Test func searchFindsLeaks() throws {
        _ = try keep("records", ["convert", "-q", "-o", "-", sample("shop"), "--label", Self.label], password: nil)
        _ = try keep("scan", ["scan", "--json", sample("shop"), "--label", Self.label], password: nil)
        let found = try tool(
            "python3", fixture("find_leaks.py"), Self.label, folder("records.output"), folder("scan.output"),
            folder("records.output"))
        for word in ["6431b0f2a9", "10.114.62.7", "16.3419868"] {
            #expect(found.lowercased().contains(word), "\(word)")
        }
    }
}
