import TestSupport
import Testing

/// Tests commands on a ledger whose numbers are out of range.
@Suite struct HostileLedgerTests {
    private let folder: TemporaryFolder
    private let server: LoopbackServer

    init() async throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer()
        try await server.setRules()
    }

    /// The columns with days, times, counts and statuses.
    private static let columns = [
        "bundles.time", "failures.jobs", "failures.status", "failures.time", "flights.day", "flights.time", "jobs.day",
        "jobs.ended", "jobs.number", "jobs.result", "jobs.success", "jobs.time", "pauses.noted", "pauses.until",
        "quotas.day", "quotas.seen", "quotas.taken", "refusals.status", "settled.seen", "settled.status",
        "settled.time", "waits.list", "waits.time",
    ]

    /// Fills the tables that the job below leaves empty.
    private static let rows = """
        INSERT INTO flights SELECT randomblob(16), content, kind, client, 1, 1, 0 FROM settled LIMIT 1;
        INSERT INTO failures SELECT identity, content, kind, client, 'id', 500, 'busy', 1, 3 FROM settled LIMIT 1;
        INSERT INTO pauses VALUES ('http://127.0.0.1:1', 1, 1);
        INSERT INTO refusals SELECT identity, content, randomblob(16), 400 FROM settled LIMIT 1;
        """

    @Test("No number in a ledger stops a command", arguments: columns)
    func extremeNumbers(column: String) async throws {
        let ledger = folder("ledger.sqlite")
        let bundle = try await Sample.bundle(
            (1...4).map { Sample.ping($0, client: $0 == 4 ? "B" : "A") }, at: folder("a.tar.zst"))
        let options = ["--ledger", ledger, "--timezone", noonTimezone]
        let send = ["send", "--endpoint", "mozilla=\(server.address)", "--daily-limit", "2"] + options
        #expect(try await Uploader(send + [bundle]).finish().status == 75)
        let parts = column.split(separator: ".")
        try tool("sqlite3", ledger, Self.rows)
        for number in ["-9223372036854775808", "9223372036854775807", "4611686018427387904"] {
            try tool("sqlite3", ledger, "UPDATE \(parts[0]) SET \(parts[1]) = \(number)")
            for command in [["status", "--json"], ["prune"], ["status", bundle], send + ["--dry-run", bundle]] {
                let words = command.contains("--ledger") ? command : command + options
                let finished = try await Uploader(words).finish()
                #expect(finished.status < 128, "\(column) \(number) \(command): \(finished.errors)")
            }
        }
    }
}
