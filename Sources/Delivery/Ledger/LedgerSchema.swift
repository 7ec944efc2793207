import SQLite

/// The tables of a ledger, and how older ones become them.
///
/// Keys are 16-byte hashes, names are numbers, and tables of keys have no row ids: a settled record takes about 65 bytes.
enum LedgerSchema {
    /// `PFLD`: tells a ledger from any other database.
    static let applicationID = 0x5046_4C44

    /// The changes of form, in order, by the names under which a ledger lists them.
    private static let migrations: [(name: String, sql: String)] = [
        ("1", firstVersion + "PRAGMA application_id = \(applicationID);"), ("2", secondVersion), ("3", thirdVersion),
        ("4", fourthVersion), ("5", fifthVersion),
    ]

    /// The table of the changes that were made, by the name that the first ledgers gave it.
    static let migrationTable = "grdb_migrations"

    /// Gives a database the present form, one change a transaction.
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

    /// Whether a newer version of the program has changed the form of a ledger.
    static func isNewer(_ db: Database) throws -> Bool {
        try !appliedMigrations(in: db).isSubset(of: migrations.map(\.name))
    }

    /// The names of the changes that were made; none if there is no list of them.
    static func appliedMigrations(in db: Database) throws -> Set<String> {
        guard try db.hasTable(migrationTable) else { return [] }
        var names: Set<String> = []
        try db.rows("SELECT identifier FROM grdb_migrations") { names.insert($0[0]) }
        return names
    }

    /// - `settled.seen`: when a job last had the record in a bundle, in seconds since 1970, to the day; `NULL` if none
    ///   had since it was settled.
    /// - `jobs.since`: when `seen` was introduced. Until then, nothing is known of when records were last seen.
    private static let fifthVersion = """
        ALTER TABLE settled ADD COLUMN seen INTEGER;
        ALTER TABLE jobs ADD COLUMN since INTEGER;
        UPDATE jobs SET since = CAST(strftime('%s', 'now') AS INTEGER);
        """

    /// - `bundles`: those that jobs were given, with the time of the last one, in seconds since 1970.
    /// - `reasons`: why records wait: a code, and what it is about, which may be empty.
    /// - `waits`: one row a record that was not settled when a job last saw it; one that was settled since counts no more.
    ///   `list` is 1 for a list of events, of which each part can be in flight.
    /// - `clients.stored`: the letters in which an id was met first. `jobs.success`: when the last job ended with all well.
    ///
    /// `waiting` of the first version is read until the next job, and stays empty then. In `settled`, `refused` is 2 for what
    /// an operator gave up.
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

    /// `pauses`: servers that asked to be left alone, when they did and until when, in seconds since 1970.
    private static let thirdVersion = """
        CREATE TABLE pauses (
            endpoint TEXT NOT NULL PRIMARY KEY, noted INTEGER NOT NULL, until INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// `refusals`: events that were refused, of lists of which another part is still to be sent.
    private static let secondVersion = """
        CREATE TABLE refusals (
            identity BLOB NOT NULL, content BLOB NOT NULL, item BLOB NOT NULL, status INTEGER NOT NULL,
            PRIMARY KEY (identity, content, item)
        ) WITHOUT ROWID;
        """

    /// - `kinds`: types of upload, by the name that they had when the first ledgers were made.
    /// - `settled`: one row a record that needs no more sending; `status` is the server's answer, 0 where nothing was left
    ///   to send; `time` in seconds since 1970.
    /// - `remarks`: why settled records were refused, or what the server noted of those that it took.
    /// - `flights`: uploads marked in flight. `day` is the day whose quota it took, `uncertain` is 1 if an attempt may have
    ///   arrived.
    /// - `items`: events of lists that were delivered.
    /// - `quotas`: uploads a day and client; `seen` is the first day on which the row lay in the future.
    /// - `waiting`: what the last job left, also while it is at work.
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
