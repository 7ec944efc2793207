import Bytes
import Files
import SQLite
import Telemetry

/// The tables of an export in a temporary database, which the sections of a report query.
///
/// Memory use does not depend on the number of rows. SQLite deletes the file.
///
/// The type is a class, so that the export and the report can share a database.
public final class ReportDatabase: TableSink {
    private let rows: TableDatabase
    let identities: Set<FileIdentity> = []

    /// The columns of each table that is filled by the export.
    ///
    /// The rows of `records` and `events` are not stored, but replaced by ``CondensedRows``.
    private static let columns: KeyValuePairs = [
        "records": CondensedRows.recordColumns, "holds": "record n code", "events": CondensedRows.eventColumns,
        "searches": "record n source engine count",
        "metrics": "record n metric_type name description",
        "clients": "n system client app_id app_name records uploadable events first last",
        "queues": "n readiness text",
        "gaps": "n system type client reason first_number last_number count time_before time_after",
        "problems": "n capture path offset code text", "quarantine": "n capture path offset code reason",
    ]

    /// Creates an empty database for the tables of `systems`.
    ///
    /// `sizeLimit` is the maximum size of its file in bytes. At most `limit.jobs` threads are used for sorting.
    public init(_ systems: SystemTable, sizeLimit: Int = .max, limit: JobLimit) throws(FileError) {
        do {
            let database = try NewDatabase(path: "", threads: limit.jobs, maximumSize: sizeLimit)
            let condensed = [
                CondensedRows.recordRuns.table, CondensedRows.eventDays.table, CondensedRows.eventKinds.table,
            ]
            rows = try TableDatabase(database, ExportTables(systems).keeping(Self.columns) + condensed, for: Self.self)
            // The tables are read several times, so that a larger cache than for writing saves time.
            try database.run("PRAGMA cache_size = -\(32 << 10)")
            // The tables of systems that are not supported are empty.
            for table in [
                "searches (record, source, engine, count)", "metrics (record, n, metric_type, name, description)",
            ] {
                try database.run("CREATE TABLE IF NOT EXISTS \(table)")
            }
        } catch {
            throw FileError(reporting: error)
        }
    }

    var prepareRows: @Sendable (inout RowBuffer) -> RowBuffer {
        { [prepareRows = rows.prepareRows] buffer in
            CondensedRows.condense(&buffer)
            return prepareRows(&buffer)
        }
    }

    var tables: [Table] { rows.tables }

    func write(_ prepared: borrowing RowBuffer) throws {
        do { try rows.write(prepared) } catch { throw FileError(reporting: error) }
    }

    func recycle(_ prepared: RowBuffer) { rows.recycle(prepared) }

    /// Adds quarantined items and problems by their codes only, because their places and texts would reveal the input.
    public func add(quarantined: [CapturedText: Int], problems: [CapturedText: Int]) throws {
        for (table, text, counts) in [("quarantine", "reason", quarantined), ("problems", "text", problems)] {
            for (code, count) in counts where count > 0 {
                try run(
                    """
                    INSERT INTO \(table) (capture, path, code, \(text)) WITH RECURSIVE numbers (number) AS
                    (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < \(count))
                    SELECT '', '', \(SchemaText.literal(code.string)), '' FROM numbers
                    """)
            }
        }
    }

    /// Creates the tables that several queries use.
    func commit() throws { try run(preparation) }

    /// The statements that create the tables for several queries.
    ///
    /// - `entries`: the runs of records with the number `owner` of their row in `clients`, and the same number `client`
    ///   unless they have no client. `app_system` is the system of records without an app.
    /// - `latest_apps`, `latest_phones`, `latest_locales`: for each owner, the number of the record with its latest app,
    ///   phone or locale. A record without a time is earlier than all others, and one without a version or a model is even
    ///   earlier.
    /// - `kinds`: the counts of the events of each app. `everyone` is the number of clients.
    private var preparation: String {
        """
        CREATE INDEX owners ON clients (system, lower(client));
        CREATE TABLE entries (record INTEGER PRIMARY KEY, owner, client, system, type, app, app_system, version, device, os,
        os_version, locale, time, day, uploadable, count);
        INSERT INTO entries SELECT record, n, CASE WHEN clients.client IS NOT NULL THEN n END, runs.system, type,
        coalesce(runs.app_name, runs.app_id), CASE WHEN coalesce(runs.app_name, runs.app_id) IS NULL THEN runs.system END,
        app_version, device, CASE WHEN lower(os) = 'ios' THEN 'iOS' ELSE os END, os_version, locale_normalized, time_ms,
        \(Self.day("time_ms")), runs.uploadable, count FROM record_runs AS runs CROSS JOIN clients
        ON clients.system = runs.system AND lower(clients.client) IS lower(runs.client);
        \(Self.latest("apps", "version IS NULL, CASE WHEN version IS NOT NULL THEN time END DESC, version IS NULL AND app IS NULL"))
        \(Self.latest("phones", "coalesce(device, os, os_version) IS NULL, device IS NULL, CASE WHEN device IS NOT NULL THEN time END DESC"))
        \(Self.latest("locales", "locale IS NULL, time DESC"))
        CREATE TABLE kinds AS SELECT app, app_system, name, label, sum(event_kinds.count) AS count,
        min(event_kinds.record << 24 | n) AS first, count(DISTINCT client) AS everyone
        FROM event_kinds \(Self.joinEntries("event_kinds")) GROUP BY app, app_system, name, label
        """
    }

    /// Returns the clause that joins each row of `table` with the entry that contains the record of the row.
    static func joinEntries(_ table: String) -> String {
        "JOIN entries ON entries.record = (SELECT max(record) FROM entries WHERE record <= \(table).record)"
    }

    /// Returns the statements that create the table of the first record of each owner in an order.
    private static func latest(_ name: String, _ order: String) -> String {
        """
        CREATE TABLE latest_\(name) (owner INTEGER PRIMARY KEY, record);
        INSERT INTO latest_\(name) SELECT owner, record FROM (SELECT owner, record,
        row_number() OVER (PARTITION BY owner ORDER BY \(order), record DESC) AS place FROM entries) WHERE place = 1;
        """
    }

    /// Returns the expression for the day, counted from 1970-01-01, of a column of milliseconds.
    ///
    /// The numbers are increased before they are divided, because a division rounds negative numbers up.
    static func day(_ column: String) -> String { "(\(column) + 86400000000000) / 86400000 - 1000000" }

    /// Returns the expression for the sum of a column of numbers that are not negative, which is limited to 2⁶³ - 1.
    ///
    /// The function `sum` would fail if the sum exceeded this limit, and `total` is inexact.
    static func sum(_ column: String) -> String {
        let (high, low) = ("sum((\(column)) >> 32)", "sum((\(column)) & 0xFFFFFFFF)")
        return "CAST(CASE WHEN \(high) >> 31 > 0 THEN 9223372036854775807 ELSE (\(high) << 32) + \(low) END AS INTEGER)"
    }

    /// Runs statements without parameters, separated by semicolons.
    func run(_ script: String) throws {
        do { try rows.database.run(script) } catch { throw FileError(reporting: error) }
    }

    /// Calls `body` with each row of `query`.
    func forEachRow(of query: String, _ body: (borrowing DatabaseRow) throws -> Void) throws {
        do { try rows.database.forEachRow(of: query, body) } catch { throw FileError(reporting: error) }
    }

    /// Returns the numbers in the only row of `query`, where NULL is 0.
    func numbers(_ query: String, count: Int) throws -> [Int] {
        var numbers = Array(repeating: 0, count: count)
        try forEachRow(of: query) { row in for index in 0..<count { numbers[index] = Int(row[index] as Int64) } }
        return numbers
    }
}

extension DatabaseRow {
    /// Returns the string in a column, truncated for display, or `nil` for NULL.
    func displayText(_ column: Int) -> String? { (self[column] as String?).map(DisplayText.truncated) }
}

extension FileError {
    fileprivate init(reporting error: any Error) {
        self.init(error, .spool, "temporary files", doing: "count the records")
    }
}

// MARK: - Counts

/// The counts of the values of some columns, of which only the largest have rows.
struct ReportCounts {
    /// A combination of values, and its counts.
    struct Row {
        let names: [String?]
        let count: Int
        /// Another number, such as the number of clients.
        let number: Int
    }

    let rows: [Row]
    /// The count of all values.
    let total: Int
    /// The count of the values without a row.
    var otherCount: Int { rows.reduce(total) { max(0, $0 - $1.count) } }
}

extension ReportDatabase {
    /// Returns the largest counts in the rows of `source`, a query with the columns `names`, `count` and `first`.
    ///
    /// Equal counts are in ascending order of `first`. If `formatter` hides small counts, a value for which `count` or
    /// `everyone`, an expression for the number of clients, is small has no row, and values with equal shown counts are in
    /// the order of their names, which does not reveal the larger count. `number` is the expression for
    /// ``ReportCounts/Row/number``.
    func counts(
        of names: [String], in source: String, number: String = "0", everyone: String = "count", limit: Int,
        _ formatter: CountFormatter
    ) throws -> ReportCounts {
        let hides = formatter.hidesSmallCounts
        let byName = names.map { "\($0) IS NULL, \($0)" }.joined(separator: ", ")
        let query = """
            WITH counted AS MATERIALIZED (\(source)), shown AS (SELECT *,
            row_number() OVER (ORDER BY count / \(formatter.minimumCount) DESC, \(hides ? "" : "first, ")\(byName)) AS place
            FROM counted \(hides ? "WHERE min(count, \(everyone)) >= \(formatter.minimumCount)" : ""))
            SELECT sum, count, \(number), \(names.joined(separator: ", "))
            FROM (SELECT \(Self.sum("count")) AS sum FROM counted) LEFT JOIN shown ON place <= \(limit) ORDER BY place
            """
        var rows: [ReportCounts.Row] = []
        var total = 0
        try forEachRow(of: query) { row in
            total = Int(row[0] as Int64)
            guard let count: Int64 = row[1] else { return }
            let names = names.indices.map { row.displayText(3 + $0) }
            rows.append(ReportCounts.Row(names: names, count: Int(count), number: Int(row[2] as Int64)))
        }
        return ReportCounts(rows: rows, total: total)
    }
}

// MARK: - Displayed text

/// The functions that shorten strings from captures for display on a page.
enum DisplayText {
    /// The maximum length of a displayed string in bytes.
    private static let maxLength = 160

    /// Returns the text, which ends with an ellipsis if it is truncated because it is long.
    static func truncated(_ text: String) -> String {
        let bytes = Array(text.utf8)[...]
        let start = bytes.utf8Prefix(maxLength)
        return start.count < bytes.count ? String(decoding: start, as: UTF8.self) + "…" : text
    }
}

extension ArraySlice<UInt8> {
    /// Returns the longest prefix of at most `maxLength` bytes that does not end within a UTF-8 character.
    func utf8Prefix(_ maxLength: Int) -> Self {
        guard count > maxLength else { return self }
        var end = startIndex + maxLength
        while end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
        return self[..<end]
    }
}
