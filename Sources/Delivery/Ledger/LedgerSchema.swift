import Bytes
import SQLite

/// The tables of a ledger and the migrations from older versions.
///
/// Keys are 16-byte hashes, names are stored as numbers, and the tables of keys have no row ids. A settled record takes
/// about 65 bytes.
enum LedgerSchema {
    /// The application id `PFLD`, which identifies a database as a ledger.
    static let applicationID = 0x5046_4C44

    /// The migrations in order, each with the name by which a ledger records it.
    private static let migrations: [(name: String, sql: String)] = [
        ("1", firstVersion + "PRAGMA application_id = \(applicationID);"), ("2", secondVersion), ("3", thirdVersion),
        ("4", fourthVersion), ("5", fifthVersion), ("6", sixthVersion),
        ("7", seventhVersion), ("8", eighthVersion),
    ]

    /// The name of the table of applied migrations, which must not change because existing ledgers contain the table.
    static let migrationTable = "grdb_migrations"

    /// Migrates a database to the current version, with one transaction for each migration.
    static func migrate(_ file: DatabaseFile) throws {
        for migration in migrations {
            try file.write { db in
                try db.run(
                    script: "CREATE TABLE IF NOT EXISTS \(migrationTable) (identifier TEXT NOT NULL PRIMARY KEY)")
                guard try !appliedMigrations(in: db).contains(migration.name) else { return }
                try db.run(script: migration.sql)
                try db.run("INSERT INTO grdb_migrations VALUES (?)", [migration.name])
            }
        }
    }

    /// Returns the name of the last applied migration that this version does not contain, or `nil` if there is none.
    static func unsupportedMigration(in db: Database) throws -> String? {
        let names = try appliedMigrations(in: db).subtracting(Set(texts: migrations.map(\.name)))
        // Names are numbers, so that a longer name is a larger number.
        return names.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) }?.string
    }

    /// Returns the names of the applied migrations, or an empty set if the migration table does not exist.
    static func appliedMigrations(in db: Database) throws -> Set<CapturedText> {
        guard try db.hasTable(migrationTable) else { return [] }
        var names: Set<CapturedText> = []
        try db.rows("SELECT identifier FROM grdb_migrations") { names.insert($0[0] as String) }
        return names
    }

    /// Adds the following tables and columns.
    ///
    /// - `failures`: One row for each record whose last upload failed, with the last answer. `status` is the HTTP status,
    ///   or `NULL` if there was no answer. `jobs` is the number of jobs in which the record alone failed with a server
    ///   error.
    /// - `waits.time`: The time of the record in seconds since 1970, or `NULL` if it is unknown.
    /// - `jobs.number`: The number of jobs that have used the ledger since this version.
    /// - `jobs.ended`: The time at which the last job ended, or `NULL` while it runs or if it was killed.
    /// - `jobs.result`: The exit status of the last job that ended.
    private static let eighthVersion = """
        CREATE TABLE failures (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL, id TEXT NOT NULL,
            status INTEGER, text TEXT NOT NULL, time INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        ALTER TABLE waits ADD COLUMN time INTEGER;
        ALTER TABLE jobs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE jobs ADD COLUMN ended INTEGER;
        ALTER TABLE jobs ADD COLUMN result INTEGER;
        """

    /// Adds the table `withdrawals`, which contains the final withdrawals that jobs found in bundles.
    ///
    /// `system`, `kind` and `id` identify the subject, with the ASCII letters of the id in lowercase. `code` is the reason
    /// of the withdrawal. `capture` and `path` identify the file that contained the fact.
    private static let seventhVersion = """
        CREATE TABLE withdrawals (
            system TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, code TEXT NOT NULL, capture TEXT NOT NULL,
            path TEXT NOT NULL, PRIMARY KEY (system, kind, id, code)
        ) WITHOUT ROWID;
        """

    /// Adds the table `ended_clients`, which contains the clients whose uploads a server no longer accepts.
    ///
    /// `identity` identifies the record whose answer ended the client, and `time` is in seconds since 1970.
    private static let sixthVersion = """
        CREATE TABLE ended_clients (client INTEGER PRIMARY KEY, identity BLOB NOT NULL, time INTEGER NOT NULL);
        """

    /// Adds the following columns.
    ///
    /// - `settled.seen`: The time at which a job last read the record from a bundle, in seconds since 1970, updated at
    ///   most once a day. It is `NULL` until a job reads the record more than a day after the record was settled.
    /// - `jobs.since`: The time at which the column `seen` was added to an existing ledger, or `NULL` in a new ledger.
    ///   All records count as read at that time.
    private static let fifthVersion = """
        ALTER TABLE settled ADD COLUMN seen INTEGER;
        ALTER TABLE jobs ADD COLUMN since INTEGER;
        UPDATE jobs SET since = CAST(strftime('%s', 'now') AS INTEGER);
        """

    /// Adds the following tables and columns.
    ///
    /// - `bundles`: The bundles with waiting records. `time` is the time of the last job that read the bundle.
    /// - `reasons`: The reasons why records wait, as a code and a detail, which may be empty.
    /// - `waits`: One row for each record that was not settled when a job last read it. Rows of records that were
    ///   settled later are ignored. `list` is 1 for a list of events, whose parts can be in flight separately.
    /// - `clients.stored`: The client id with the letter case in which it was first seen.
    /// - `jobs.success`: The time at which the last successful job began.
    ///
    /// The table `waiting` of the first version is read until the next job empties it. In `settled`, `refused` is 2 for
    /// records that the operator has given up.
    private static let fourthVersion = """
        CREATE TABLE bundles (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, path TEXT NOT NULL, time INTEGER NOT NULL);
        CREATE TABLE reasons (id INTEGER PRIMARY KEY, code TEXT NOT NULL, detail TEXT NOT NULL, UNIQUE (code, detail));
        CREATE TABLE waits (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            bundle INTEGER NOT NULL, reason INTEGER NOT NULL, list INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        ALTER TABLE clients ADD COLUMN stored TEXT;
        ALTER TABLE jobs ADD COLUMN success INTEGER;
        """

    /// Adds the table `pauses`, which contains the pauses requested by servers.
    ///
    /// `noted` is the time of the request and `until` is the end of the pause, in seconds since 1970.
    private static let thirdVersion = """
        CREATE TABLE pauses (
            endpoint TEXT NOT NULL PRIMARY KEY, noted INTEGER NOT NULL, until INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// Adds the table `refusals`, which contains the refused events of a list until all of its parts are settled.
    private static let secondVersion = """
        CREATE TABLE refusals (
            identity BLOB NOT NULL, content BLOB NOT NULL, item BLOB NOT NULL, status INTEGER NOT NULL,
            PRIMARY KEY (identity, content, item)
        ) WITHOUT ROWID;
        """

    /// Creates the following tables.
    ///
    /// - `kinds`: The types of upload.
    /// - `clients`: The clients of each system. `client` is the lowercase id, or `NULL` for records without a client.
    /// - `settled`: One row for each record that does not have to be sent again. `status` is the HTTP status, or 0 if
    ///   nothing was left to send. `time` is in seconds since 1970.
    /// - `remarks`: The reasons of refusals, and the remarks of servers about delivered records.
    /// - `flights`: The uploads in flight. `day` is the day whose quota the upload used. `uncertain` is 1 if an attempt
    ///   may have arrived.
    /// - `items`: The delivered events of lists.
    /// - `quotas`: The number of uploads for each day and client. `seen` is the earliest day on which a job found the
    ///   row more than one day in the future.
    /// - `releases`: The ids of records and the hold codes from which the operator has released them.
    /// - `waiting`: The records that the last job did not send.
    /// - `jobs`: One row with the time and day of the last job.
    private static let firstVersion = """
        CREATE TABLE kinds (id INTEGER PRIMARY KEY, system TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (system, type));
        CREATE TABLE clients (id INTEGER PRIMARY KEY, system TEXT NOT NULL, client TEXT);
        CREATE UNIQUE INDEX client_names ON clients (system, ifnull(client, ''), client IS NULL);
        CREATE TABLE settled (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            time INTEGER NOT NULL, status INTEGER NOT NULL, refused INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE remarks (
            identity BLOB NOT NULL, content BLOB NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE INDEX remark_ids ON remarks (id);
        CREATE TABLE flights (
            identity BLOB NOT NULL, content BLOB NOT NULL, kind INTEGER NOT NULL, client INTEGER NOT NULL,
            day INTEGER NOT NULL, time INTEGER NOT NULL, uncertain INTEGER NOT NULL, PRIMARY KEY (identity, content)
        ) WITHOUT ROWID;
        CREATE TABLE items (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE quotas (
            day INTEGER NOT NULL, client INTEGER NOT NULL, taken INTEGER NOT NULL, seen INTEGER,
            PRIMARY KEY (day, client)
        ) WITHOUT ROWID;
        CREATE TABLE releases (id TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (id, code)) WITHOUT ROWID;
        CREATE TABLE waiting (
            client INTEGER NOT NULL, kind INTEGER NOT NULL, reason TEXT NOT NULL, records INTEGER NOT NULL,
            PRIMARY KEY (client, kind, reason)
        ) WITHOUT ROWID;
        CREATE TABLE jobs (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL, day INTEGER NOT NULL);
        """
}
