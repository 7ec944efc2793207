import Bundle
import Files
import Mozilla
import SQLite
import Systems
import Telemetry
import TestSupport

@testable import Delivery

/// Reads hostile bytes as changes of the values in a valid ledger, and uses the changed ledger.
///
/// The first byte selects the edit that is made first. Each change consists of a byte for the column, a byte for the
/// row, a byte for the kind of value, and the value. All errors must be `LedgerError`.
func fuzzLedger(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = InputBytes(Array(UnsafeBufferPointer(start: start, count: count)))
    guard !input.isEmpty else { return 0 }
    let firstEdit = input.byte()
    var changes: [String] = []
    while !input.isEmpty, changes.count < 64 { changes.append(input.change(of: template.columns)) }
    do {
        let folder = try TemporaryFolder(inMemory: true)
        // The folder is removed when the object is released.
        defer { withExtendedLifetime(folder) {} }
        let path = folder("ledger.sqlite")
        let output = try AtomicOutput(path: path, replacing: false)
        let bytes = template.bytes
        try output.write(bytes.span)
        try output.commit()
        try apply(changes, to: path)
        read(path)
        edit(path, startingWith: firstEdit, copyPath: folder("copy.sqlite"))
    } catch {
        preconditionFailure("\(error)")
    }
    return 0
}

// MARK: Changes

private func apply(_ changes: [String], to path: String) throws {
    let file = try DatabaseFile(path: path, .writing)
    defer { file.close() }
    try file.withoutTransaction { db in
        try db.run(script: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        for change in changes {
            do throws(DatabaseError) {
                try db.run(script: change)
            } catch {
                // SQLite rejects values that violate a constraint.
                precondition(!error.message.contains("syntax error"), "\(change): \(error.message)")
            }
        }
    }
}

/// The unread bytes of an input.
///
/// After the last byte, zeros are read.
private struct InputBytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    /// Returns the next change as an SQL statement.
    mutating func change(of columns: [LedgerColumn]) -> String {
        let column = columns[byte() % columns.count]
        let row = byte()
        // The first values select all rows, because most tables have few rows.
        let rows =
            row < 0x40
            ? ""
            : " WHERE (\(column.key)) IN (SELECT \(column.key) FROM \(column.table) LIMIT 1 OFFSET \(row % 16))"
        guard let value = self.value(columns) else { return "DELETE FROM \(column.table)\(rows)" }
        return "UPDATE OR REPLACE \(column.table) SET \(column.name) = \(value)\(rows)"
    }

    /// Returns the next value as an SQL expression, or `nil` if the row is deleted.
    private mutating func value(_ columns: [LedgerColumn]) -> String? {
        switch byte() % 10 {
        case 0: return "NULL"
        case 1: return "\(Self.integers[byte() % Self.integers.count])"
        case 2: return "\(integer())"
        case 3: return real()
        case 4: return hexadecimal(count: byte() % 40)
        case 5: return "CAST(\(hexadecimal(count: byte())) AS TEXT)"
        case 6:
            let size = 256 * byte()
            return "replace(hex(zeroblob(\(size))), '00', CAST(\(hexadecimal(count: byte() % 8)) AS TEXT))"
        case 7: return "'\(Self.words[byte() % Self.words.count])'"
        case 8:
            let other = columns[byte() % columns.count]
            return "(SELECT \(other.name) FROM \(other.table) LIMIT 1 OFFSET \(byte() % 16))"
        default: return nil
        }
    }

    private mutating func integer() -> Int64 {
        var number: UInt64 = 0
        for _ in 0..<8 { number = number << 8 | UInt64(byte()) }
        return Int64(bitPattern: number)
    }

    private mutating func real() -> String {
        let number = Double(bitPattern: UInt64(bitPattern: integer()))
        if number.isNaN { return "NULL" }
        return number.isFinite ? "\(number)" : number < 0 ? "-9e999" : "9e999"
    }

    private mutating func hexadecimal(count: Int) -> String {
        let digits = Array("0123456789ABCDEF")
        var text = "X'"
        for _ in 0..<count {
            let next = byte()
            text.append(digits[next >> 4])
            text.append(digits[next & 15])
        }
        return text + "'"
    }

    /// Small numbers, the limits of integers and of times in milliseconds, powers of two, and times and days.
    private static let integers: [Int64] = [
        0, 1, 2, 3, 4, 10, 400, 65_536, -1, -9_223_372_036_854_775_808, 9_223_372_036_854_775_807,
        -9_223_372_036_854_775_807, 9_223_372_036_854_775_806, 9_223_372_036_854_775, -9_223_372_036_854_775,
        9_223_372_036_854_776, -9_223_372_036_854_776, 4_611_686_018_427_387_904, 9_007_199_254_740_992,
        9_007_199_254_740_991, 1_099_511_627_776, 1_099_511_627_777, 4_294_967_296, 1_583_154_000, 1_583_758_800,
        18_323, 18_324, 253_402_300_800,
    ]

    private static let words = [
        "", "held", "set-aside", "too-old", "to-be-sent-again", "not-sent", "in-flight", "held: ", ", ,,",
        "pending-events, ", "client", "profile", "forgotten", "opted-out", "deletion-requested", "deletion-request",
        "mozilla", "sift", "unknown", "core", "A", "C", "9", "://", address,
    ]
}

// MARK: The valid ledger

/// A column of a table in a ledger.
private struct LedgerColumn: Sendable {
    let table: String
    let name: String
    /// The names of the columns of the table's primary key, separated by commas, or `rowid` if it has none.
    let key: String
}

/// A valid ledger, which is made once.
private struct LedgerTemplate: Sendable {
    let bytes: [UInt8]
    let columns: [LedgerColumn]

    init() throws {
        let folder = try TemporaryFolder(inMemory: true)
        defer { withExtendedLifetime(folder) {} }
        let ledger = try Ledger(path: folder("ledger.sqlite"), now: now)
        try runJob(ledger)
        try ledger.edit { try $0.run(script: Self.rows) }
        let overview = try ledger.view.overview(today: today, knowing: Systems.table)
        precondition(!overview.counts.isEmpty && !overview.pauses.isEmpty, "the ledger lacks records or pauses")
        precondition(!overview.remarks.isEmpty && !overview.setAsideRecords.isEmpty, "the ledger lacks failures")
        let copy = folder("copy.sqlite")
        try ledger.view.backUp(to: copy, replacing: false)
        let file = try DatabaseFile(path: copy, .writing)
        columns = try file.withoutTransaction { db in
            try db.run(script: Self.removalOfConstraints)
            return try Self.columns(of: db)
        }
        file.close()
        bytes = try InputFile(path: copy).contents(limit: 16 << 20)
    }

    /// Adds rows to the tables that a single job leaves empty.
    private static let rows = """
        UPDATE failures SET jobs = 3;
        INSERT OR IGNORE INTO failures
            SELECT identity, content, kind, client, '6', 500, 'busy', 1583154000, 3 FROM waits LIMIT 2;
        INSERT OR IGNORE INTO flights SELECT identity, content, kind, client, 18323, 1583154000, 1 FROM waits LIMIT 1;
        INSERT OR IGNORE INTO refusals SELECT identity, content, content, 400 FROM waits LIMIT 1;
        INSERT OR IGNORE INTO items SELECT content FROM waits LIMIT 1;
        INSERT OR IGNORE INTO releases VALUES ('6', 'pending-events');
        INSERT OR IGNORE INTO ended_clients SELECT client, identity, 1583154000 FROM waits ORDER BY client DESC LIMIT 1;
        """

    /// Removes the constraints on single values, which a forged ledger does not need to have.
    private static let removalOfConstraints = """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, ' NOT NULL', ''), ' CHECK (id = 1)', '')
        WHERE type = 'table';
        PRAGMA writable_schema = RESET;
        """

    private static func columns(of db: Database) throws -> [LedgerColumn] {
        var columns: [LedgerColumn] = []
        try db.rows(
            """
            SELECT m.name, c.name, ifnull(
                (SELECT group_concat(k.name) FROM pragma_table_info(m.name) AS k WHERE k.pk > 0), 'rowid')
            FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY m.name, c.cid
            """
        ) { columns.append(LedgerColumn(table: $0[0], name: $0[1], key: $0[2])) }
        return columns
    }
}

private let template: LedgerTemplate = {
    do {
        return try LedgerTemplate()
    } catch {
        preconditionFailure("the ledger cannot be made: \(error)")
    }
}()

private let now = Sample.time(0)
private let today = DayRule.utc.day(of: now)

private let rules: PlanRules = {
    var rules = PlanRules(limits: UploadLimits(daily: 20, perType: 10), maximumListItems: 1)
    rules.servers = ServerTable(of: Systems.table)
    return rules
}()

/// The address of the server that requests pauses.
private let address = rules.servers[TypeName(system: .mozilla, name: "core")]?.endpoint.address ?? ""

private let records: [Record] = {
    let pings = (1...5).map { ping($0, client: "A") }
    // The first of these records has the id of another one, and a different payload.
    let others = [
        ping(5, client: "A", sequence: 1), ping(6, client: "B", held: [Hold.pendingEvents]), ping(7, client: nil),
        ping(8, client: "C"),
    ]
    let lists = [
        Sample.sift([#"{"time":1}"#, #"{"time":2}"#, #"{"time":3}"#]), Sample.leanplum([#"{"action":"track"}"#]),
    ]
    return pings + others + lists
}()

/// Returns a ping whose id is `number`.
private func ping(_ number: Int, client: String?, sequence: Int = 0, held: [Hold] = []) -> Record {
    Record(
        system: .mozilla, type: "core", id: "\(number)", client: client, time: Sample.time(-number),
        target: Target(path: "/submit/telemetry/\(number)/core/Focus/8.1.3/release/4236?v=4"),
        payload: Array(#"{"seq":\#(sequence)}"#.utf8), source: Sample.source, held: held)
}

/// The records, with a final withdrawal of a client.
private let pool: CandidatePool = {
    var pool = CandidatePool(knowing: Systems.table)
    pool.addBundle(BundleName(path: "a.tar.zst", digest: String(repeating: "0", count: 64)))
    for (segment, record) in records.enumerated() {
        var notes = CandidateNotes(knowing: Systems.table) { _, _ in false }
        notes.add(record, RecordKey(record), 0..<10)
        let client = UInt32(pool.names.clients.number(of: record.client, system: record.system))
        pool.add(notes, clients: [client], bundle: 0, segment: segment)
    }
    pool.add(
        Withdrawal(
            .forgotten, of: Withdrawal.Subject(.mozilla, .client, id: "C"), capture: "tue",
            path: "Library/Preferences/com.example.shop.plist"))
    return pool
}()

// MARK: Use

/// Calls `body`, and returns `nil` if it throws a `LedgerError`.
@discardableResult
private func attempt<Value>(_ body: () throws -> Value) -> Value? {
    do {
        return try body()
    } catch is LedgerError {
        return nil
    } catch {
        preconditionFailure("unexpected error: \(error)")
    }
}

/// Reads all values of the ledger at `path`.
private func read(_ path: String) {
    guard let view = attempt({ try LedgerView(path: path) }) else { return }
    attempt { try view.fault() }
    attempt { try view.jobNumber() }
    attempt { try view.missingJobs()?.description }
    attempt { try view.refusals() }
    attempt { try view.setAsideRecords() }
    attempt { try view.releasableHoldCounts(knowing: Systems.table) }
    attempt { try view.releaseCheck()("6", "pending-events") }
    if let overview = attempt({ try view.overview(today: today, knowing: Systems.table) }) { check(overview) }
    guard let state = attempt({ try view.state(of: pool, today: today) }) else { return }
    let plan = Planner.plan(pool, state, rules: rules, now: now)
    precondition(plan.dispositions.count == pool.count, "a record has no disposition")
    attempt { try view.pauses(of: plan, at: now) }
    let recorded = attempt { try view.recordedReasons(of: pool) } ?? RecordedReasons()
    let status = PoolStatus(of: pool, state, recorded)
    precondition(BundleStatus.allStatuses(of: status).map(\.recordCount) == [pool.count], "a record is not counted")
    for (index, record) in status.records.enumerated() {
        _ = record.reason?.text
        _ = status.decidingFact(of: index)
        _ = recorded.lastAnswer(ofRecordAt: index, in: pool)?.phrase
    }
    let outcomes = attempt { try view.recordOutcomes(of: pool, today: today) }
    precondition(outcomes?.count ?? pool.count == pool.count, "a record has no outcome")
}

private func check(_ overview: LedgerOverview) {
    let counts = overview.counts.values.map(\.waitingCounts) + overview.waitingBundles.map(\.waitingCounts)
    for reason in counts.flatMap(\.keys).sorted() { _ = reason.text }
    precondition(overview.nightsLeft(UploadLimits()) >= 0, "the number of jobs is negative")
    for job in [JobState.running(since: now), .ended(start: now, end: now, status: 1)] {
        let text = MetricsText(overview, knowing: Systems.table, job).bytes
        precondition(text.last == UInt8(ascii: "\n"), "the last metric has no end of line")
    }
}

/// Makes each edit of the ledger at `path` once, beginning with the one that `first` selects.
private func edit(_ path: String, startingWith first: Int, copyPath: String) {
    guard let ledger = attempt({ try Ledger(path: path, now: now) }) else { return }
    let ids = records.map(\.id) + pool.bundles.map(\.digest) + [address]
    let edits: [() throws -> Void] = [
        { _ = try ledger.recordStates(of: ids) },
        { _ = try ledger.release(ids, heldFor: "pending-events") },
        { _ = try ledger.retry(.ids(ids)) },
        { _ = try ledger.retry(.status(400)) },
        { _ = try ledger.retry(.all) },
        { _ = try ledger.giveUp(ids, at: now) },
        { try ledger.recordMove(pool.bundles[0], to: "b.tar.zst", knowing: Systems.table) },
        { try runJob(ledger) },
        { _ = try ledger.prune(unseenFor: 0, knowing: Systems.table, at: now) },
        { _ = try ledger.forget(ids) },
        { try ledger.view.backUp(to: copyPath, replacing: true) },
        { try ledger.restore(try LedgerView(path: copyPath)) },
    ]
    for number in edits.indices { attempt(edits[(first + number) % edits.count]) }
}

/// Runs a job whose uploads have different outcomes.
private func runJob(_ ledger: Ledger) throws {
    let plan = Planner.plan(pool, try ledger.view.state(of: pool, today: today), rules: rules, now: now)
    let sends = plan.queues.flatMap(\.sends)
    try ledger.begin(plan)
    // The changes of a job are applied directly, because `commit` is asynchronous.
    try ledger.edit { db in
        var job = try LedgerJob(plan, number: 1, db)
        for send in sends { _ = try job.mark(send, at: now, db) }
        for (number, send) in sends.enumerated() { try job.settle(settlement(of: send, number: number), at: now, db) }
    }
    try ledger.recordEnd(status: 0, at: now)
}

private func settlement(of send: PlannedUpload, number: Int) -> Settlement {
    let outcomes: [Outcome] = [
        .delivered(status: 200, note: "odd"), .refused(status: 400, reason: "no"),
        .retryLater(status: 500, reason: "busy"), .unknown(reason: "lost"),
        .credentialWrong(status: 401, reason: "wrong"),
    ]
    let pause = Pause(endpoint: address, requestTime: now, endTime: Sample.time(60))
    return Settlement(
        send: send, recordID: "\(number)", outcome: outcomes[number % outcomes.count], pause: number == 2 ? pause : nil,
        endsClient: number == 7)
}
