import Telemetry

/// The tables of an export, including the tables that only one system has.
///
/// Source: "Exports", section 1.
public struct ExportTables: Sendable {
    /// The tables in the order in which a `RowBuffer` stores them.
    public let all: [Table]

    /// The version of the tables.
    ///
    /// It is stored in the table `meta` and in `PRAGMA user_version`.
    public static let schemaVersion = 1

    /// Creates the tables for the given systems.
    public init(_ systems: SystemTable) {
        all =
            [Self.records, Self.holds, Self.notes, Self.events] + systems.all.compactMap(\.rows).flatMap(\.tables)
            + [
                Self.clients, Self.stores, Self.queues, Self.gaps, Self.problems, Self.quarantine, Self.meta,
                Self.columns,
            ]
    }

    /// Returns the index in ``all`` of a table that this module declares.
    func index(of table: Table) -> Int { all.firstIndex { $0.name == table.name } ?? 0 }
}

// MARK: - Records

extension ExportTables {
    static let records = Table(
        "records", aRowForEach: "record",
        [
            TableColumn(
                "record", .integer, "the number of the record in the order of `convert`, from 1", isRequired: true),
            TableColumn("system", .text, "the name of the telemetry system", isRequired: true),
            TableColumn("type", .text, "the type of the upload, as named by the system", isRequired: true),
            TableColumn("id", .text, "the id by which the system recognizes duplicates", isRequired: true),
            TableColumn("client", .text, "the id of the client, as stored on the device"),
            TableColumn(
                "time", .time, "the time at which the device queued the upload: RFC 3339, UTC, with milliseconds"),
            TableColumn("time_ms", .integer, "`time` in milliseconds since 1970-01-01, UTC"),
            TableColumn("day", .text, "the UTC day of `time`, as `YYYY-MM-DD`"),
            TableColumn("app_id", .text, "the bundle id or application id of the app"),
            TableColumn("app_name", .text, "the name of the app"),
            TableColumn("app_version", .text, "the version of the app"),
            TableColumn("app_channel", .text, "the release channel of the app"),
            TableColumn("app_build", .text, "the build number of the app"),
            TableColumn("os", .text, "the operating system, if the payload contains it"),
            TableColumn("os_version", .text, "the version of the operating system, if the payload contains it"),
            TableColumn("device", .text, "the model of the device, if the payload contains it"),
            TableColumn("locale", .text, "the locale, if the payload contains it"),
            TableColumn(
                "locale_normalized", .text,
                "`locale` as a language tag of BCP 47, such as `de-DE` for `de_DE`, without keywords"),
            TableColumn("method", .text, "the HTTP method, if it is not the default method of the system"),
            TableColumn("target", .text, "the path and the query of the URL that receives the upload"),
            TableColumn("headers", .json, "the HTTP header fields that are specific to the upload"),
            TableColumn("uploadable", .flag, "1 if the record can be uploaded, 0 if it is held", isRequired: true),
            TableColumn("capture", .text, "the capture that contains the record", isRequired: true),
            TableColumn(
                "container", .text,
                "the container of the app on the phone: the capture, and the path of the folder that usually contains "
                    + "`Documents` and `Library`",
                isRequired: true),
            TableColumn("path", .text, "the path of the file in the capture", isRequired: true),
            TableColumn("store", .text, "the type of the store on the device", isRequired: true),
            TableColumn("place", .integer, "the position of the record in the file, from 0", isRequired: true),
            TableColumn("payload", .json, "the payload in the documented format of the system", isRequired: true),
        ], key: ["record"], indexes: [["id"], ["client"], ["time_ms"], ["system", "type"]])

    static let holds = Table(
        ofRecords: "holds", aRowForEach: "reason why a record is held",
        [
            TableColumn("code", .text, "the code of the reason", isRequired: true),
            TableColumn("detail", .text, "further information about the reason"),
        ], indexes: [["code"]])

    static let notes = Table(
        ofRecords: "notes", aRowForEach: "note of a record",
        [
            TableColumn(
                "code", .text, "the code of the rule or section in the format document of the system", isRequired: true),
            TableColumn("text", .text, "the change that normalization made, or the irregularity that it found"),
        ], indexes: [["code"]])

    static let events = Table(
        "events", aRowForEach: "event in a record of any system",
        [
            .record,
            TableColumn("n", .integer, "the index of the event in its record, from 0", isRequired: true),
            TableColumn("system", .text, "the telemetry system of the record", isRequired: true),
            TableColumn("type", .text, "the type of the record", isRequired: true),
            TableColumn("client", .text, "the id of the client of the record"),
            TableColumn("user_id", .text, "the id of the user, if the event contains it"),
            TableColumn("time", .time, "the time that `time_basis` specifies: RFC 3339, UTC, with milliseconds"),
            TableColumn("time_ms", .integer, "`time` in milliseconds since 1970-01-01, UTC"),
            TableColumn(
                "time_basis", .text,
                "the source of `time`: `event` is the time of the event; `record` is the time of the record; "
                    + "`earlier-run` is the time of the record, with `elapsed_ms` measured from the start of an earlier "
                    + "process",
                isRequired: true),
            TableColumn(
                "at", .time,
                "the best known time of the event, whose source is `at_basis`: RFC 3339, UTC, with milliseconds"
            ),
            TableColumn("at_ms", .integer, "`at` in milliseconds since 1970-01-01, UTC"),
            TableColumn(
                "at_basis", .text,
                "the source of `at`: `event` is a time in the event; `process-start` is the start of the app's process plus "
                    + "`elapsed_ms`; `ping-start` is the start of the ping's time span plus `elapsed_ms`; `record` and "
                    + "`earlier-run` are as in `time_basis`, because no better time is known",
                isRequired: true),
            TableColumn(
                "elapsed_ms", .integer,
                "the stored time of the event, on the clock that the format document of its system defines"),
            TableColumn("name", .text, "the name of the event"),
            TableColumn("category", .text, "the category of the event"),
            TableColumn("method", .text, "the kind of action, such as `click`"),
            TableColumn("object", .text, "the user interface element or subject of the action"),
            TableColumn("value", .text, "the value of the event, as stored"),
            TableColumn("extra", .json, "all other data of the event"),
            TableColumn("label", .text, "the documented meaning of the event"),
        ], key: ["record", "n"], indexes: [["client"], ["time_ms"], ["at_ms"], ["type"], ["name"]],
        belongsToRecords: true)
}

// MARK: - Tables of the whole export

extension ExportTables {
    static let clients = Table(
        "clients", aRowForEach: "client of a system, and for the records of a system that have no client",
        [
            TableColumn("n", .integer, "the row number, from 1", isRequired: true),
            TableColumn("system", .text, "the telemetry system", isRequired: true),
            TableColumn(
                "client", .text,
                "the id of the client, as in its first record; ids that differ only in the case of ASCII letters are "
                    + "the same client"),
            TableColumn("app_id", .text, "the ids of the apps of the client, separated by a comma and a space"),
            TableColumn("app_name", .text, "the names of the apps of the client, separated by a comma and a space"),
            TableColumn("app_version", .text, "the version of the app in the latest record that contains a version"),
            TableColumn("records", .integer, "the number of records of the client", isRequired: true),
            TableColumn("uploadable", .integer, "the number of these records that can be uploaded", isRequired: true),
            TableColumn("events", .integer, "the number of events in these records", isRequired: true),
            TableColumn("first", .time, "the earliest time of a record"),
            TableColumn("last", .time, "the latest time of a record"),
        ], key: ["n"], indexes: [["system", "client"]])

    static let gaps = Table(
        "gaps", aRowForEach: "gap, repetition or restart of the sequence numbers of a client",
        [
            TableColumn("n", .integer, "the row number, from 1", isRequired: true),
            TableColumn("system", .text, "the telemetry system", isRequired: true),
            TableColumn("type", .text, "the type of the records, whose numbers are one sequence", isRequired: true),
            TableColumn("client", .text, "the id of the client, as in the table `clients`", isRequired: true),
            TableColumn(
                "run", .integer, "the number of the run, from 1; each restart of the sequence begins a run",
                isRequired: true),
            TableColumn(
                "reason", .text,
                "`missing`: no record has the numbers; `repeated`: several different records have the same number; "
                    + "`restart`: the sequence starts again, for example because the app was installed again",
                isRequired: true),
            TableColumn("first", .integer, "the first of the missing or repeated numbers; NULL for a restart"),
            TableColumn("last", .integer, "the last of the missing or repeated numbers; NULL for a restart"),
            TableColumn(
                "count", .integer, "the number of missing numbers or of additional records; 0 for a restart",
                isRequired: true),
            TableColumn(
                "number_before", .integer,
                "the number before the gap; for a restart, the highest number of the preceding run"),
            TableColumn(
                "number_after", .integer, "the number after the gap; for a restart, the lowest number of the new run"),
            TableColumn(
                "time_before", .time, "the time of the record before the gap, or of the first of the repeated records"),
            TableColumn(
                "time_after", .time, "the time of the record after the gap, or of the last of the repeated records"),
        ], key: ["n"], indexes: [["system", "client"]])

    static let problems = Table(
        "problems", aRowForEach: "problem",
        [
            TableColumn("n", .integer, "the row number, from 1", isRequired: true),
            TableColumn("capture", .text, "the name of the capture", isRequired: true),
            TableColumn(
                "path", .text, "the path of the file; empty if the problem concerns the whole capture", isRequired: true
            ),
            TableColumn("offset", .integer, "the byte offset in the file, if known"),
            TableColumn("code", .text, "the code of the problem", isRequired: true),
            TableColumn("text", .text, "a description of the problem", isRequired: true),
        ], key: ["n"], indexes: [["code"]])

    static let quarantine = Table(
        "quarantine", aRowForEach: "item in quarantine",
        [
            TableColumn("n", .integer, "the row number, from 1", isRequired: true),
            TableColumn("capture", .text, "the name of the capture", isRequired: true),
            TableColumn("path", .text, "the path of the file in the capture", isRequired: true),
            TableColumn(
                "offset", .integer,
                "the byte offset of the item, or of the first byte that could not be parsed; NULL for a whole file"),
            TableColumn("length", .integer, "the length of the item, in bytes; NULL for a whole file"),
            TableColumn("sha256", .text, "the SHA-256 hash of the bytes of the item", isRequired: true),
            TableColumn("code", .text, "the code of the reason", isRequired: true),
            TableColumn("reason", .text, "the code and a description of the reason", isRequired: true),
            TableColumn(
                "stored", .flag, "1 if a bundle contains the bytes, 0 if it only lists the item", isRequired: true),
            TableColumn("size", .integer, "the number of bytes", isRequired: true),
        ], key: ["n"])

    static let meta = Table(
        "meta", aRowForEach: "property of the export",
        [
            TableColumn(
                "key", .text,
                """
                the name of the property: `tool`, `tables`, `segments` if the export contains selected segments only, \
                `times` if times are rounded down to the hour or day, \
                `input.<n>` for each input, from 1, and `digest.<n>` for each input that is a bundle
                """,
                isRequired: true),
            TableColumn("value", .text, "the value of the property", isRequired: true),
        ], key: ["key"])

    static let columns = Table(
        "columns", aRowForEach: "column of a table",
        [
            TableColumn("table", .text, "the name of the table", isRequired: true),
            TableColumn("column", .text, "the name of the column", isRequired: true),
            TableColumn("type", .text, "the type of the values", isRequired: true),
            TableColumn("meaning", .text, "the meaning of the values", isRequired: true),
        ], key: ["table", "column"])
}

// MARK: - Views

/// A view of an SQLite database that answers a frequent question.
public struct TableView: Sendable {
    /// The name of the view.
    public let name: String
    /// The meaning of a row, as a phrase that completes "a row for each".
    public let rowMeaning: String
    /// The names of the columns.
    public let columns: [String]
    let query: String
}

extension ExportTables {
    /// The views of an SQLite database.
    public static let views = [
        TableView(
            name: "pings_per_day", rowMeaning: "day, system and type",
            columns: ["day", "system", "type", "records", "clients"],
            query: """
                SELECT day, system, type, count(*), count(DISTINCT lower(client)) FROM records
                GROUP BY day, system, type ORDER BY day, system, type
                """),
        TableView(
            name: "events_per_day", rowMeaning: "day, system, name and label of events",
            columns: ["day", "system", "name", "label", "events", "clients"],
            query: """
                SELECT substr(at, 1, 10), system, name, label, count(*), count(DISTINCT lower(client)) FROM events
                GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
                """),
        TableView(
            name: "clients_per_day", rowMeaning: "day and system, with the clients whose first record is of that day",
            columns: ["day", "system", "clients", "new_clients", "records"],
            query: """
                SELECT day, system, count(DISTINCT id), count(DISTINCT CASE WHEN day = first_day THEN id END), count(*)
                FROM (SELECT system, day, lower(client) AS id,
                min(day) OVER (PARTITION BY system, lower(client)) AS first_day FROM records)
                WHERE day IS NOT NULL GROUP BY day, system ORDER BY day, system
                """),
        TableView(
            name: "retention_by_week",
            rowMeaning: "system, week of the first records of clients, and number of weeks since then",
            columns: ["system", "first_week", "week", "clients", "share"],
            query: """
                WITH weeks AS (SELECT DISTINCT system, lower(client) AS id, date(day, 'weekday 0', '-6 days') AS monday
                FROM records WHERE client IS NOT NULL AND day IS NOT NULL),
                firsts AS (SELECT system, id, min(monday) AS first_week FROM weeks GROUP BY system, id),
                counts AS (SELECT system, first_week,
                CAST((julianday(monday) - julianday(first_week)) / 7 AS INTEGER) AS week, count(*) AS clients
                FROM weeks JOIN firsts USING (system, id) GROUP BY 1, 2, 3)
                SELECT system, first_week, week, clients, clients * 1.0
                / first_value(clients) OVER (PARTITION BY system, first_week ORDER BY week)
                FROM counts ORDER BY system, first_week, week
                """),
        TableView(
            name: "sequence_gaps", rowMeaning: "sequence of a client with gaps, repetitions or restarts",
            columns: ["system", "type", "client", "missing", "repeated", "restarts"],
            query: """
                SELECT system, type, client, sum(CASE reason WHEN 'missing' THEN count ELSE 0 END),
                sum(CASE reason WHEN 'repeated' THEN count ELSE 0 END), sum(reason = 'restart') FROM gaps
                GROUP BY system, type, client ORDER BY system, type, client
                """),
    ]
}
