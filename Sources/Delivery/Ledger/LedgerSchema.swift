import Bytes
import Hashing
import SQLite
import Telemetry

/// The tables of a ledger.
///
/// Keys are 16-byte hashes, names are stored as numbers, and the tables of keys have no row ids. A settled record takes
/// about 65 bytes. All times are in seconds since 1970.
enum LedgerSchema {
    /// The application id `PFLD`, which identifies a database as a ledger.
    static let applicationID = 0x5046_4C44
    /// The version of the tables, which the table `schema` states.
    static let version = 1

    /// Creates the tables in one transaction, unless the database has them.
    static func create(in file: DatabaseFile) throws {
        try file.write { db in
            guard try !db.hasTable("schema") else { return }
            try db.run(script: script)
        }
    }

    /// Returns the version of the tables, or `nil` if the database has no table `schema`.
    static func version(of db: Database) throws -> Int? {
        try db.hasTable("schema") ? db.first("SELECT version FROM schema") : nil
    }

    /// The statements that create the following tables.
    ///
    /// - `kinds`: The types of upload.
    /// - `clients`: The clients of each system. `client` is the lowercase id, or `NULL` for records without a client.
    ///   `stored` is the id with the letter case in which it was first seen.
    /// - `settled`: One row for each record that does not have to be sent again. `status` is the HTTP status, or 0 if
    ///   nothing was left to send. `refused` is 1 for refused records, and 2 for those that the operator has given up.
    ///   `seen` is the time at which a job last read the record from a bundle, updated at most once a day, or `NULL`
    ///   until a job reads the record more than a day after it was settled.
    /// - `remarks`: The reasons of refusals, and the remarks of servers about delivered records.
    /// - `failures`: One row for each record whose last upload failed, with the last answer. `status` is the HTTP
    ///   status, or `NULL` if there was no answer. `jobs` is the number of jobs in which the record alone failed with a
    ///   server error.
    /// - `flights`: The uploads in flight. `day` is the day whose quota the upload used. `uncertain` is 1 if an attempt
    ///   may have arrived.
    /// - `items`: The delivered events of lists.
    /// - `refusals`: The refused events of a list until all of its parts are settled.
    /// - `quotas`: The number of uploads for each day and client. `seen` is the earliest day on which a job found the
    ///   row more than one day in the future.
    /// - `releases`: The ids of records and the hold codes from which the operator has released them.
    /// - `pauses`: The pauses requested by servers. `noted` is the time of the request, and `until` is the end of the
    ///   pause.
    /// - `bundles`: The bundles with waiting records. `time` is the time of the last job that read the bundle.
    /// - `reasons`: The reasons why records wait, as a code and a detail, which may be empty.
    /// - `waits`: One row for each record that was not settled when a job last read it. Rows of records that were
    ///   settled later are ignored. `list` is 1 for a list of events, whose parts can be in flight separately. `time`
    ///   is the time of the record, or `NULL` if it is unknown.
    /// - `ended_clients`: The clients whose uploads a server no longer accepts. `identity` identifies the record whose
    ///   answer ended the client.
    /// - `withdrawals`: The final withdrawals that jobs found in bundles. `system`, `kind` and `id` identify the
    ///   subject, with the ASCII letters of the id in lowercase. `code` is the reason of the withdrawal. `capture` and
    ///   `path` identify the file that contained the fact.
    /// - `jobs`: One row with the time and day of the last job, and the `number` of jobs so far. `success` is the time at
    ///   which the last successful job began. `ended` is the time at which the last job ended, or `NULL` while it runs
    ///   or if it was killed. `result` is the exit status of the last job that ended.
    static let script = """
        CREATE TABLE schema (version INTEGER NOT NULL);
        INSERT INTO schema VALUES (\(version));
        CREATE TABLE kinds (id INTEGER PRIMARY KEY, system TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (system, type));
        CREATE TABLE clients (id INTEGER PRIMARY KEY, system TEXT NOT NULL, client TEXT, stored TEXT);
        CREATE UNIQUE INDEX client_names ON clients (system, ifnull(client, ''), client IS NULL);
        CREATE TABLE settled (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            time INTEGER NOT NULL, status INTEGER NOT NULL, refused INTEGER NOT NULL, seen INTEGER,
            PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE remarks (
            identity BLOB NOT NULL, content BLOB NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE INDEX remark_ids ON remarks (id);
        CREATE TABLE failures (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL, id TEXT NOT NULL,
            status INTEGER, text TEXT NOT NULL, time INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE flights (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            day INTEGER NOT NULL, time INTEGER NOT NULL, uncertain INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE items (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE refusals (
            identity BLOB NOT NULL, content BLOB NOT NULL, item BLOB NOT NULL, status INTEGER NOT NULL,
            PRIMARY KEY (identity, content, item)
        ) WITHOUT ROWID;
        CREATE TABLE quotas (
            day INTEGER NOT NULL, client INTEGER NOT NULL, taken INTEGER NOT NULL, seen INTEGER,
            PRIMARY KEY (day, client)
        ) WITHOUT ROWID;
        CREATE TABLE releases (id TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (id, code)) WITHOUT ROWID;
        CREATE TABLE pauses (
            endpoint TEXT NOT NULL PRIMARY KEY, noted INTEGER NOT NULL, until INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE bundles (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, path TEXT NOT NULL, time INTEGER NOT NULL);
        CREATE TABLE reasons (id INTEGER PRIMARY KEY, code TEXT NOT NULL, detail TEXT NOT NULL, UNIQUE (code, detail));
        CREATE TABLE waits (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            bundle INTEGER NOT NULL, reason INTEGER NOT NULL, list INTEGER NOT NULL, time INTEGER,
            PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE ended_clients (client INTEGER PRIMARY KEY, identity BLOB NOT NULL, time INTEGER NOT NULL);
        CREATE TABLE withdrawals (
            system TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, code TEXT NOT NULL, capture TEXT NOT NULL,
            path TEXT NOT NULL, PRIMARY KEY (system, kind, id, code)
        ) WITHOUT ROWID;
        CREATE TABLE jobs (
            id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL, day INTEGER NOT NULL,
            number INTEGER NOT NULL DEFAULT 0, success INTEGER, ended INTEGER, result INTEGER
        );
        PRAGMA application_id = \(applicationID);
        """
}

// MARK: - Queries

extension Database {
    func hasRow(_ sql: StaticString, _ values: [any DatabaseValue]) throws -> Bool {
        let found: Int? = try first(sql, values)
        return found != nil
    }

    func changeCount(running sql: StaticString, _ values: [any DatabaseValue]) throws -> Int {
        try run(sql, values)
        return changeCount
    }

    /// Returns the keys in the first two columns of the rows that a query produces.
    func keys(_ sql: StaticString, _ values: [any DatabaseValue] = []) throws -> Set<RecordKey> {
        var keys: Set<RecordKey> = []
        try rows(sql, values) { row in
            if let key = RecordKey(row, at: 0) { keys.insert(key) }
        }
        return keys
    }
}

// MARK: - Values

/// Ledgers store times as seconds since 1970.
extension Timestamp {
    /// Creates a timestamp, or returns `nil` if `seconds` is out of range.
    init?(seconds: Int64) {
        let (milliseconds, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isOver else { return nil }
        self.init(milliseconds: milliseconds)
    }

    var seconds: Int64 { milliseconds / 1000 }
}

// MARK: Keys, stored as 16 bytes in big-endian order

extension Digest16: DatabaseValue {
    /// Binds the 16 bytes of the hash to a parameter of an SQL statement.
    public func bind(to parameter: DatabaseParameter) -> Int32 {
        let bytes = bytes
        return parameter.bind(bytes.span.bytes)
    }

    /// Reads a hash from a column, or returns `nil` if the column does not contain 16 bytes.
    init?(_ row: borrowing DatabaseRow, at column: Int) {
        let digest = row.withBytes(of: column) { $0.byteCount == 16 ? Digest16($0) : nil }
        guard let digest else { return nil }
        self = digest
    }
}

extension RecordKey {
    /// Reads the identity from the given column and the content from the next column.
    ///
    /// Returns `nil` if one of the columns does not contain 16 bytes.
    init?(_ row: borrowing DatabaseRow, at column: Int) {
        guard let identity = Digest16(row, at: column), let content = Digest16(row, at: column + 1) else { return nil }
        self.init(identity: identity, content: content)
    }

    /// The values of the columns `identity` and `content`.
    var columns: [any DatabaseValue] { [identity, content] }
}
