import TestSupport
import Testing

/// Tables and timelines against rows that another program makes, row by row: `Tests/Tables/check_tables.py`.
///
/// It also checks the databases, compares CSV with SQLite, and keeps Timesketch's rules.
@Suite struct TableAgreementTests {
    private func check(_ captures: String) throws {
        let finished = try RunningProgram(
            ["python3", "\(repository)/Tests/Tables/check_tables.py", pingferryPath, captures]
        ).finish()
        #expect(finished.status == 0, "\(finished.text.prefix(20_000))\(finished.errors.suffix(2_000))")
    }

    @Test(
        arguments: [
            ("mozilla_stores", ["--pings", "60"]), ("glean_stores", ["--pings", "60"]),
            ("leanplum_stores", ["--events", "700"]), ("keyed_archives", ["--events", "300"]), ("ios_backups", []),
        ] as [(String, [String])])
    func generatedCaptures(name: String, options: [String]) throws {
        let folder = try TemporaryFolder()
        _ = try tool(["python3", generator("make_\(name).py"), folder("captures"), "--seed", "7"] + options)
        try check(folder("captures"))
    }

    @Test("samples, request logs of all systems among them, and a bundle of them")
    func samplesAndTheirBundle() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("captures")
        for name in samples + sampleLogs { try tool("cp", "-R", sample(name), folder("captures/\(name)")) }
        let inputs = (samples + sampleLogs).map { sample($0) }
        let bundling = try RunningProgram(
            [pingferryPath, "bundle", "-q", "-o", folder("captures/all.tar.zst")] + inputs
        ).finish()
        #expect(bundling.status == 1, "some samples have something for the quarantine")
        try check(folder("captures"))
    }

    @Test func manyRecords() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("captures")
        try tool(
            "python3", "\(repository)/Tests/Load/make_load.py", folder("captures/load"), "--containers", "3", "--pings",
            "1500")
        try check(folder("captures"))
    }
}
