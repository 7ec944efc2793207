import Foundation
import SQLite
import Telemetry
import TestSupport
import Testing

@testable import Delivery

/// Tests that a job can continue after an earlier one was killed, or found the disk full, while it created or wrote a
/// ledger.
@Suite struct LedgerInitializationTests {
    private let folder: TemporaryFolder
    private let path: String
    private let now = Sample.time(0)

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        path = folder("l")
    }

    /// The possible states of the files after an interrupted initialization.
    enum State: CaseIterable {
        case nothing, emptyFile, emptyLog, pageSize, firstPageWithJournal, logAlone, unfinished
    }

    private func make(_ state: State) throws {
        switch state {
        case .nothing: break
        case .emptyFile: makeEmpty("l")
        case .emptyLog:
            for name in ["l", "l-wal", "l-journal"] { makeEmpty(name) }
        case .pageSize: try change([], in: path)
        case .firstPageWithJournal:
            try change([], in: path)
            try journal(before: 0).write(to: URL(fileURLWithPath: path + "-journal"))
        case .logAlone:
            // The tables are still in the log, because no process closed the database.
            try copy(while: ["PRAGMA journal_mode = WAL", Self.tables])
        case .unfinished: try copy(while: ["PRAGMA journal_mode = WAL", "BEGIN", Self.tables])
        }
    }

    private func makeEmpty(_ name: String) {
        #expect(FileManager.default.createFile(atPath: folder(name), contents: nil))
    }

    private static let tables = LedgerSchema.script

    private func change(_ statements: [String], in path: String) throws {
        let file = try DatabaseFile(path: path, .writing)
        try file.withoutTransaction { db in
            for statement in statements + ["VACUUM"] { try db.run(script: statement) }
        }
        file.close()
    }

    /// Executes statements on another database, and copies its files while it is open.
    private func copy(while statements: [String]) throws {
        let file = try DatabaseFile(path: folder("other"), .writing)
        try file.withoutTransaction { db in
            for statement in statements { try db.run(script: statement) }
            for name in folder.names where name.hasPrefix("other") {
                try FileManager.default.copyItem(atPath: folder(name), toPath: path + name.dropFirst("other".count))
            }
            if statements.contains("BEGIN") { try db.run(script: "ROLLBACK") }
        }
        file.close()
    }

    /// Returns a rollback journal that truncates a database to a number of pages and restores none.
    ///
    /// Source: SQLite, "Database File Format", section 3, "The Rollback Journal".
    private func journal(before pages: UInt8) -> Data {
        let header: [UInt8] =
            [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, pages]
            + [0, 0, 2, 0, 0, 0, 16, 0]
        return Data(header + Array(repeating: 0, count: 512 - header.count))
    }

    @Test("A ledger is created from every state of an interrupted initialization", arguments: State.allCases)
    func interruptedInitialization(state: State) async throws {
        try make(state)
        // Opening the ledger for reading fails or finds no entries.
        if let view = try? LedgerView(path: path) { #expect(try view.overview(today: 0).counts.isEmpty) }
        let pool = Sample.pool([Sample.ping("A")])
        do {
            let ledger = try Ledger(path: path, now: now)
            let plan = Planner.plan(pool, LedgerState(), rules: PlanRules(), now: now)
            try ledger.begin(plan)
            #expect(try await ledger.mark(plan.sends, at: now) == [true])
        }
        let overview = try LedgerView(path: path).overview(today: DayRule.utc.day(of: now))
        #expect(overview.counts.values.map(\.inFlightCount) == [1])
        #expect(!folder.names.contains("l-journal"))
    }

    @Test(
        "An unfinished transaction is rolled back, also when the ledger is opened for reading",
        arguments: [false, true])
    func hotJournal(byLooking: Bool) async throws {
        do {
            let ledger = try Ledger(path: folder("other"), now: now)
            let plan = Planner.plan(
                Sample.pool([Sample.ping("A")]), LedgerState(), rules: PlanRules(), now: now)
            try ledger.begin(plan)
            _ = try await ledger.mark(plan.sends, at: now)
        }
        // With a cache of one page, SQLite writes to the file before the transaction is committed.
        try copy(while: [
            "PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN", "DELETE FROM flights",
            "CREATE TABLE noise (text)",
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) INSERT INTO noise SELECT hex(zeroblob(1000)) FROM n",
        ])
        #expect(folder.names.contains("l-journal"))
        if !byLooking { _ = try Ledger(path: path, now: now) }
        let overview = try LedgerView(path: path).overview(today: DayRule.utc.day(of: now))
        #expect(overview.counts.values.map(\.inFlightCount) == [1])
    }

    @Test("The journal of another program's database is not rolled back")
    func foreignJournal() throws {
        try change(["CREATE TABLE notes (text)"], in: path)
        try journal(before: 0).write(to: URL(fileURLWithPath: path + "-journal"))
        let before = try folder.data("l")
        #expect(throws: LedgerError.self) { try Ledger(path: path, now: now) }
        #expect(throws: LedgerError.self) { try LedgerView(path: path) }
        #expect(try folder.data("l") == before)
        #expect(folder.names.contains("l-journal"))
    }

    @Test("A ledger without a version, or of another version, is rejected and not changed")
    func versions() throws {
        for (change, name) in [
            ("DROP TABLE schema", "notALedger"), ("UPDATE schema SET version = 2", "unsupportedVersion"),
        ] {
            let folder = try TemporaryFolder(inMemory: true)
            _ = try Ledger(path: folder("l"), now: now)
            try self.change([change], in: folder("l"))
            let before = try folder.data("l")
            for attempt in [{ _ = try Ledger(path: folder("l"), now: now) }, { _ = try LedgerView(path: folder("l")) }]
                as [() throws -> Void]
            {
                let error = #expect(throws: LedgerError.self) { try attempt() }
                #expect(error?.caseName == name)
            }
            #expect(try folder.data("l") == before)
        }
    }
}
