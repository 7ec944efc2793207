import Bundle
import Bytes
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
            [
                Self.records.table, Self.holds.table, Self.notes.table, RecordRows.events.table,
                RecordRows.attributes.table,
            ]
            + systems.all.compactMap(\.rows).flatMap(\.tables)
            + [
                Self.repeats.table, Self.clients.table, Self.stores.table, Self.queues.table, Self.gaps.table,
                Self.problems.table, Self.quarantine.table, Self.meta.table, Self.columns.table,
            ]
    }

    /// Returns the tables whose names are keys of `columns`, with only the named columns, which are separated by spaces.
    func keeping(_ columns: KeyValuePairs<String, String>) -> [Table] {
        all.compactMap { table in
            let kept = columns.first { $0.key == table.name }?.value
            return kept.map { table.keeping(columns: $0.split(separator: " ").map(String.init)) }
        }
    }
}

// MARK: - Records

extension ExportTables {
    static let records = RowTable<RecordRow>(
        "records", aRowForEach: "record", key: ["record"],
        indexes: [["id"], ["client"], ["client_key"], ["time_ms"], ["system", "type"]],
        [
            .number("the number of the record in the order of `convert`, from 1", name: "record"),
            .cell("system", .text, "the name of the telemetry system", isRequired: true) { $0.shared.system },
            .cell(
                "type", .text, "the type of the upload, as named by the system", isRequired: true
            ) { $0.shared.type },
            .member("id", "the id by which the system recognizes duplicates", isRequired: true, RecordKeys.id) {
                $0.envelope.root
            },
            .cell("client", .text, "the id of the client, as stored on the device") { $0.shared.client },
            .cell(
                "client_key", .text,
                "`client` with its ASCII letters in lowercase, which is equal for all spellings of an id"
            ) { $0.shared.clientKey },
            .cell(
                "time", .time, "the time at which the device queued the upload: RFC 3339, UTC, with milliseconds"
            ) { $0.shared.time },
            .cell("time_ms", .integer, "`time` in milliseconds since 1970-01-01, UTC") { $0.shared.milliseconds },
            .cell("day", .text, "the UTC day of `time`, as `YYYY-MM-DD`") { $0.shared.time.dayOfTime },
            .cell("clock", .text, ClockState.columnMeaning(of: "time")) { $0.shared.clock },
            .member("app_id", "the bundle id or application id of the app", RecordKeys.id) { $0.app },
            .member("app_name", "the name of the app", RecordKeys.name) { $0.app },
            .member("app_version", "the version of the app", RecordKeys.version) { $0.app },
            .member("app_channel", "the release channel of the app", RecordKeys.channel) { $0.app },
            .member("app_build", "the build number of the app", RecordKeys.build) { $0.app },
            .cell("os", .text, "the operating system, if the payload contains it") { $0.device.os },
            .stored(
                "os_family", .text,
                "`os` without its spelling: `ios`, `tvos`, `watchos`, `android`, `macos`, `windows`, `linux` or `other`"
            ) { $0.osFamily(in: &$1) },
            .cell(
                "os_version", .text, "the version of the operating system, if the payload contains it"
            ) { $0.device.osVersion },
            .cell("device", .text, "the model of the device, if the payload contains it") { $0.device.device },
            .cell("locale", .text, "the locale, if the payload contains it") { $0.device.locale },
            .stored(
                "locale_normalized", .text,
                "`locale` as a language tag of BCP 47, such as `de-DE` for `de_DE`, without keywords"
            ) { $0.normalizedLocale(in: &$1) },
            .member(
                "method", "the HTTP method, if it is not the default method of the system", RecordKeys.method
            ) { $0.target },
            .member(
                "target", "the path and the query of the URL that receives the upload", RecordKeys.path
            ) { $0.target },
            .stored("headers", .json, "the HTTP header fields that are specific to the upload") {
                $1.keep(json: $0.envelope.value(of: RecordKeys.headers, in: $0.target), of: $0.envelope)
            },
            .flag("uploadable", "1 if the record can be uploaded, 0 if it is held") { $0.isUploadable },
            .member(
                "capture", "the capture that contains the record", isRequired: true, RecordKeys.capture
            ) { $0.source },
            .stored(
                "container", .text,
                "the container of the app on the phone: the capture, and the path of the folder that usually contains "
                    + "`Documents` and `Library`", isRequired: true
            ) { $0.container(in: &$1) },
            .member(
                "path", "the path of the file in the capture", isRequired: true, RecordKeys.path
            ) { $0.source },
            .member(
                "store", "the type of the store on the device", isRequired: true, RecordKeys.store
            ) { $0.source },
            .stored("place", .integer, "the position of the record in the file, from 0", isRequired: true) {
                $1.keep(integer: $0.envelope.value(of: RecordKeys.index, in: $0.source), of: $0.envelope)
            },
            .stored(
                "payload", .json, "the payload in the documented format of the system", isRequired: true
            ) { $1.keep($0.payload.span) },
        ])

    static let holds = RowTable<Hold>(
        ofRecords: "holds", aRowForEach: "reason why a record is held", indexes: [["code"]],
        [
            .text("code", "the code of the reason") { $0.code },
            .text("detail", "further information about the reason") { $0.detail },
        ])

    static let notes = RowTable<NoteRow>(
        ofRecords: "notes", aRowForEach: "note of a record", indexes: [["code"]],
        [
            .text("code", "the code of the rule or section in the format document of the system") { $0.code },
            .text("text", "the change that normalization made, or the irregularity that it found") { $0.text },
        ])
}

// MARK: - Tables of the whole export

extension ExportTables {
    static let repeats = RowTable<RepeatRow>(
        numbered: "repeats", aRowForEach: "record that was dropped because a copy of it was kept",
        indexes: [["record"]],
        [
            .integer(
                "record", "the number of the record that was kept; NULL if a filter excludes it"
            ) { $0.keptNumber },
            .member("system", "the telemetry system", isRequired: true, RecordKeys.system) { $0.envelope.root },
            .member("type", "the type of the record", isRequired: true, RecordKeys.type) { $0.envelope.root },
            .member("id", "the id of the dropped record", isRequired: true, RecordKeys.id) { $0.envelope.root },
            .member("client", "the id of the client of the dropped record", RecordKeys.client) { $0.envelope.root },
            .stored("time", .time, "the time of the dropped record: RFC 3339, UTC, with milliseconds") {
                $1.keep(string: $0.envelope.value(of: RecordKeys.time, in: $0.envelope.root), of: $0.envelope)
            },
            .stored("held", .json, "the reasons why the dropped record was held", isRequired: true) {
                $1.keep(json: $0.envelope.value(of: RecordKeys.held, in: $0.envelope.root), of: $0.envelope)
            },
            .member(
                "capture", "the capture that contains the dropped record", isRequired: true, RecordKeys.capture
            ) { $0.source },
            .member("path", "the path of its file in the capture", isRequired: true, RecordKeys.path) { $0.source },
            .member("store", "the type of its store on the device", isRequired: true, RecordKeys.store) { $0.source },
            .stored("place", .integer, "the position of the dropped record in the file, from 0", isRequired: true) {
                $1.keep(integer: $0.envelope.value(of: RecordKeys.index, in: $0.source), of: $0.envelope)
            },
            .flag(
                "payload_equal",
                "1 if the payloads of both records are equal, 0 for pending events of which the kept record has the client"
            ) { $0.isPayloadEqual },
        ])

    static let clients = RowTable<(client: ClientSummary, apps: ClientApps)>(
        numbered: "clients", aRowForEach: "client of a system, and for the records of a system that have no client",
        indexes: [["system", "client"], ["system", "client_key"]],
        [
            .text("system", "the telemetry system") { $0.client.system },
            .text(
                "client",
                "the id of the client, as in its first record; ids that differ only in the case of ASCII letters are "
                    + "the same client"
            ) { $0.client.client },
            .text(
                "client_key", "`client` with its ASCII letters in lowercase, as in the table `records`"
            ) { $0.client.client.map { ClientID($0).lowercased.string } },
            .text(
                "app_id", "the ids of the apps of the client, separated by a comma and a space"
            ) { $0.apps.ids.joinedNames },
            .text(
                "app_name", "the names of the apps of the client, separated by a comma and a space"
            ) { $0.apps.names.joinedNames },
            .text(
                "app_version", "the version of the app in the latest record that contains a version"
            ) { $0.apps.version },
            .integer("records", "the number of records of the client") { $0.client.recordCount },
            .integer("uploadable", "the number of these records that can be uploaded") { $0.client.uploadableCount },
            .integer("events", "the number of events in these records") { $0.client.eventCount },
            .time("first", "the earliest time of a record") { $0.client.firstTime },
            .time("last", "the latest time of a record") { $0.client.lastTime },
        ])

    static let gaps = RowTable<GapRow>(
        numbered: "gaps", aRowForEach: "gap, repetition or restart of the sequence numbers of a client",
        indexes: [["system", "client"]],
        [
            .text("system", "the telemetry system") { $0.system.description },
            .text("type", "the type of the records, whose numbers are one sequence") { $0.type },
            .text("client", "the id of the client, as in the table `clients`") { $0.client },
            .integer("run", "the number of the run, from 1; each restart of the sequence begins a run") { $0.run },
            .text(
                "reason",
                "`missing`: no record has the numbers; `repeated`: several different records have the same number; "
                    + "`restart`: the sequence starts again, for example because the app was installed again"
            ) { $0.reason.rawValue },
            .integer(
                "first_number", "the first of the missing or repeated numbers; NULL for a restart"
            ) { $0.numbers?.lowerBound },
            .integer(
                "last_number", "the last of the missing or repeated numbers; NULL for a restart"
            ) { $0.numbers?.upperBound },
            .integer("count", "the number of missing numbers or of additional records; 0 for a restart") { $0.count },
            .integer(
                "number_before", "the number before the gap; for a restart, the highest number of the preceding run"
            ) { $0.numberBefore },
            .integer(
                "number_after", "the number after the gap; for a restart, the lowest number of the new run"
            ) { $0.numberAfter },
            .time(
                "time_before", "the time of the record before the gap, or of the first of the repeated records"
            ) { $0.timeBefore },
            .time(
                "time_after", "the time of the record after the gap, or of the last of the repeated records"
            ) { $0.timeAfter },
        ])

    static let problems = RowTable<LocatedProblem>(
        numbered: "problems", aRowForEach: "problem", indexes: [["code"]],
        [
            .text("capture", "the name of the capture") { $0.capture },
            .text("path", "the path of the file; empty if the problem concerns the whole capture") { $0.path },
            .integer("offset", "the byte offset in the file, if known") { $0.problem.offset },
            .text("code", "the code of the problem") { $0.problem.code },
            .text("text", "a description of the problem") { $0.problem.text },
        ])

    static let quarantine = RowTable<QuarantineEntry>(
        numbered: "quarantine", aRowForEach: "item in quarantine",
        [
            .text("capture", "the name of the capture") { $0.capture },
            .text("path", "the path of the file in the capture") { $0.path },
            .integer(
                "offset",
                "the byte offset of the item, or of the first byte that could not be parsed; NULL for a whole file"
            ) { $0.reject.offset },
            .integer("length", "the length of the item, in bytes; NULL for a whole file") { $0.reject.length },
            .text("sha256", "the SHA-256 hash of the bytes of the item") { $0.sha256 },
            .text("code", "the code of the reason") { String($0.reject.reason.prefix { $0 != " " }) },
            .text("reason", "the code and a description of the reason") { $0.reject.reason },
            .flag("stored", "1 if a bundle contains the bytes, 0 if it only lists the item") { $0.isStored },
            .integer("size", "the number of bytes") { $0.size },
        ])

    static let meta = RowTable<(key: String, value: String)>(
        "meta", aRowForEach: "property of the export", key: ["key"],
        [
            .text(
                "key",
                """
                the name of the property: `tool`, `tables`, `segments` if the export contains selected segments only, \
                `times` if times are rounded down to the hour or day, `filters` if records were selected, `salvage` and \
                `spreadsheet` if these options were given, `pseudonym_key` for the id of the key, `duplicates` for the number \
                of rows in `repeats`, `newest` and `newest_plausible` for the latest time of all records and of the records \
                with a plausible clock, `input.<n>` for the label of each input, from 1, `digest.<n>` for each input that is a \
                bundle, and `input.<n>.<m>`, `digest.<n>.<m>` and `sha256.<n>.<m>` for input m of bundle n
                """
            ) { $0.key },
            .text("value", "the value of the property") { $0.value },
        ])

    static let columns = RowTable<(table: Table, column: TableColumn)>(
        "columns", aRowForEach: "column of a table", key: ["table", "column"],
        [
            .text("table", "the name of the table") { $0.table.name },
            .text("column", "the name of the column") { $0.column.name },
            .text("type", "the type of the values") { $0.column.typeDescription },
            .text("meaning", "the meaning of the values") { $0.column.meaning },
        ])
}

extension Set<CapturedText> {
    /// The names in order, separated by a comma and a space, or `nil` if there are none.
    fileprivate var joinedNames: String? { isEmpty ? nil : sortedStrings.joined(separator: ", ") }
}

// MARK: - Views

/// A view of the tables that answers a frequent question.
public struct TableView: Sendable {
    /// The name of the view.
    public let name: String
    /// The meaning of a row, as a phrase that completes "a row for each".
    public let rowMeaning: String
    /// The names of the columns.
    public let columns: [String]
    /// The query in the dialect of a database.
    let query: @Sendable (SQLDialect.Type) -> String
}

/// The expressions whose notation depends on the database.
protocol SQLDialect {
    /// Returns the Monday of the week of a column of days.
    static func monday(ofDay column: String) -> String
    /// Returns the number of weeks between two columns of days.
    static func weeks(from start: String, to end: String) -> String
}

extension ExportTables {
    /// The views of an SQLite database, which `load.sql` also creates in DuckDB.
    ///
    /// The views by day and week omit records and events without a plausible time.
    public static let views = [
        TableView(
            name: "pings_per_day", rowMeaning: "day, system and type",
            columns: ["day", "system", "type", "records", "clients"]
        ) { _ in
            """
            SELECT day, system, type, count(*), count(DISTINCT client_key) FROM records WHERE clock = 'plausible'
            GROUP BY day, system, type ORDER BY day, system, type
            """
        },
        TableView(
            name: "events_per_day", rowMeaning: "day, system, name and label of events",
            columns: ["day", "system", "name", "label", "events", "clients"]
        ) { _ in
            """
            SELECT at_day, system, name, label, count(*), count(DISTINCT client_key) FROM events
            WHERE at_clock = 'plausible' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
            """
        },
        TableView(
            name: "clients_per_day", rowMeaning: "day and system, with the clients whose first record is of that day",
            columns: ["day", "system", "clients", "new_clients", "records"]
        ) { _ in
            """
            SELECT day, system, count(DISTINCT client_key),
            count(DISTINCT CASE WHEN day = first_day THEN client_key END), count(*)
            FROM (SELECT system, day, client_key, min(day) OVER (PARTITION BY system, client_key) AS first_day
            FROM records WHERE clock = 'plausible') GROUP BY day, system ORDER BY day, system
            """
        },
        TableView(
            name: "retention_by_week",
            rowMeaning: "system, week of the first records of clients, and number of weeks since then",
            columns: ["system", "first_week", "week", "clients", "share"]
        ) { sql in
            """
            WITH weeks AS (SELECT DISTINCT system, client_key, \(sql.monday(ofDay: "day")) AS monday
            FROM records WHERE client_key IS NOT NULL AND clock = 'plausible'),
            firsts AS (SELECT system, client_key, min(monday) AS first_week FROM weeks GROUP BY system, client_key),
            counts AS (SELECT system, first_week, \(sql.weeks(from: "first_week", to: "monday")) AS week,
            count(*) AS clients FROM weeks JOIN firsts USING (system, client_key) GROUP BY 1, 2, 3)
            SELECT system, first_week, week, clients, clients * 1.0
            / first_value(clients) OVER (PARTITION BY system, first_week ORDER BY week)
            FROM counts ORDER BY system, first_week, week
            """
        },
        TableView(
            name: "sequence_gaps", rowMeaning: "sequence of a client with gaps, repetitions or restarts",
            columns: ["system", "type", "client", "missing", "repeated", "restarts"]
        ) { _ in
            """
            SELECT system, type, client, sum(CASE reason WHEN 'missing' THEN count ELSE 0 END),
            sum(CASE reason WHEN 'repeated' THEN count ELSE 0 END), sum(CASE reason WHEN 'restart' THEN 1 ELSE 0 END)
            FROM gaps GROUP BY system, type, client ORDER BY system, type, client
            """
        },
    ]
}
