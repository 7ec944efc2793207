import TestSupport
import Testing

/// Compares tables and timelines with the rows that `Tests/Tables/check_tables.py` makes.
///
/// The program also checks the databases, compares CSV with SQLite, and checks the rules of Timesketch.
@Suite struct TableAgreementTests {
    private func check(_ argument: String, script: String = "check_tables.py") throws {
        let finished = try RunningProgram(
            ["python3", "\(repository)/Tests/Tables/\(script)", pingferryPath, argument]
        ).finish()
        #expect(finished.status == 0, "\(finished.text.prefix(20_000))\(finished.errors.suffix(2_000))")
    }

    @Test(arguments: ["mozilla", "glean", "leanplum", "sift", "backups"])
    func capturesWithExpectedResults(name: String) throws {
        try check(try SharedCaptures.unpacked(name))
    }

    @Test("The samples with their request logs, and a bundle of them")
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

    @Test("Phones with the stores of all systems")
    func mixedFleet() throws {
        try check("1", script: "mixed_fleet.py")
    }

    @Test func manyRecords() throws {
        let folder = try TemporaryFolder()
        try tool("ln", "-s", try SharedCaptures.load(pings: 1000, containers: 3), folder("load"))
        try check(folder.path)
    }
}
