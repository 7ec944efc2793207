import Telemetry

/// The tables of an export: those of all systems, and those of single systems.
///
/// Source: "Exports", section 1.
public struct ExportTables: Sendable {
    /// The tables in the order of the document, which is also the order in a `RowBuffer`.
    public let all: [Table]

    /// The version of the tables, as `meta` and `PRAGMA user_version` state it.
    public static let version = 1

    /// Creates the tables of all systems.
    ///
    /// - Parameter systems: The systems.
    public init(_ systems: SystemTable) {
        all =
            [Self.records, Self.holds, Self.notes, Self.events] + systems.all.compactMap(\.rows).flatMap(\.tables)
            + [Self.clients, Self.problems, Self.quarantine, Self.meta, Self.columns]
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
                "record", .integer, "the number of the record, from 1, in the order of `convert`", isRequired: true),
            TableColumn("system", .text, "the system", isRequired: true),
            TableColumn("type", .text, "the system's own name of this kind of upload", isRequired: true),
            TableColumn("id", .text, "what the system de-duplicates by", isRequired: true),
            TableColumn("client", .text, "the client, as stored"),
            TableColumn("time", .text, "when the phone queued it: RFC 3339, UTC, milliseconds"),
            TableColumn("time_ms", .integer, "the same in milliseconds since 1970"),
            TableColumn("day", .text, "the day of that in UTC, `YYYY-MM-DD`"),
            TableColumn("app_id", .text, "bundle or application id of the app"),
            TableColumn("app_name", .text, "name of the app"),
            TableColumn("app_version", .text, "version of the app"),
            TableColumn("app_channel", .text, "release channel of the app"),
            TableColumn("app_build", .text, "build of the app"),
            TableColumn("os", .text, "operating system, where the payload tells"),
            TableColumn("os_version", .text, "version of the operating system, where the payload tells"),
            TableColumn("device", .text, "model of the phone, where the payload tells"),
            TableColumn("locale", .text, "locale, where the payload tells"),
            TableColumn("method", .text, "HTTP method, where it is not the system's usual one"),
            TableColumn("target", .text, "path and query that it would be sent to"),
            TableColumn("headers", .json, "header fields that belong to the upload itself"),
            TableColumn("uploadable", .flag, "1 if nothing holds it", isRequired: true),
            TableColumn("capture", .text, "the capture that it was found in", isRequired: true),
            TableColumn("path", .text, "the file in the capture", isRequired: true),
            TableColumn("store", .text, "the kind of store", isRequired: true),
            TableColumn("place", .integer, "the place in the file, from 0", isRequired: true),
            TableColumn("payload", .json, "the documented format", isRequired: true),
        ], key: ["record"], indexes: [["client"], ["time_ms"], ["system", "type"]])

    static let holds = Table(
        ofRecords: "holds", aRowForEach: "reason why a record is held",
        [
            TableColumn("code", .text, "the reason", isRequired: true),
            TableColumn("detail", .text, "more about it"),
        ])

    static let notes = Table(
        ofRecords: "notes", aRowForEach: "note of a record",
        [
            TableColumn("code", .text, "the case of the format document", isRequired: true),
            TableColumn("text", .text, "what normalization changed or found odd"),
        ])

    static let events = Table(
        "events", aRowForEach: "event inside a record, of any system",
        [
            .record,
            TableColumn("n", .integer, "the number of the event in its record, from 0", isRequired: true),
            TableColumn("system", .text, "the system of the record", isRequired: true),
            TableColumn("type", .text, "the type of the record", isRequired: true),
            TableColumn("client", .text, "the client of the record"),
            TableColumn("time", .text, "the instant that `time_basis` tells: RFC 3339, UTC, milliseconds"),
            TableColumn("time_ms", .integer, "the same in milliseconds since 1970"),
            TableColumn(
                "time_basis", .text,
                "`event`: the time is the event's own; `record`: it is the record's; `earlier-run`: it is the record's, and "
                    + "`elapsed_ms` counts from the start of an earlier process", isRequired: true),
            TableColumn("elapsed_ms", .integer, "the event's own number, on the clock of its system's document"),
            TableColumn("name", .text, "the name"),
            TableColumn("category", .text, "the category"),
            TableColumn("method", .text, "the method"),
            TableColumn("object", .text, "the object"),
            TableColumn("value", .text, "the value as stored"),
            TableColumn("extra", .json, "what else the event has"),
            TableColumn("label", .text, "what it is documented to mean"),
        ], key: ["record", "n"], indexes: [["client"], ["time_ms"], ["type"], ["name"]], belongsToRecords: true)
}

// MARK: - Tables of the whole export

extension ExportTables {
    static let clients = Table(
        "clients", aRowForEach: "client of a system, and the records of a system without a client",
        [
            TableColumn("n", .integer, "the number of the row, from 1", isRequired: true),
            TableColumn("system", .text, "the system", isRequired: true),
            TableColumn("client", .text, "the client, as first met; no two differ in letter case alone"),
            TableColumn("app_name", .text, "its app; of several all, joined by a comma and a space"),
            TableColumn("records", .integer, "how many records it has", isRequired: true),
            TableColumn("uploadable", .integer, "how many of them may be uploaded", isRequired: true),
            TableColumn("events", .integer, "how many events are in them", isRequired: true),
            TableColumn("first", .text, "the first time of a record"),
            TableColumn("last", .text, "the last time of a record"),
        ], key: ["n"], indexes: [["system", "client"]])

    static let problems = Table(
        "problems", aRowForEach: "problem",
        [
            TableColumn("n", .integer, "the number of the row, from 1", isRequired: true),
            TableColumn("capture", .text, "the capture", isRequired: true),
            TableColumn("path", .text, "the file; empty for the capture as a whole", isRequired: true),
            TableColumn("offset", .integer, "the place in the file, where it has one"),
            TableColumn("code", .text, "the code", isRequired: true),
            TableColumn("text", .text, "the problem in words", isRequired: true),
        ], key: ["n"])

    static let quarantine = Table(
        "quarantine", aRowForEach: "thing in quarantine",
        [
            TableColumn("n", .integer, "the number of the row, from 1", isRequired: true),
            TableColumn("capture", .text, "the capture", isRequired: true),
            TableColumn("path", .text, "the file", isRequired: true),
            TableColumn("offset", .integer, "where it begins, or where understanding ended; NULL for the whole file"),
            TableColumn("length", .integer, "the length of the span; NULL for all of the file"),
            TableColumn("sha256", .text, "SHA-256 of its bytes", isRequired: true),
            TableColumn("code", .text, "the case of the format document", isRequired: true),
            TableColumn("reason", .text, "the code, and the reason in words", isRequired: true),
            TableColumn("stored", .flag, "1 if a bundle carries its bytes, 0 if it lists them alone", isRequired: true),
            TableColumn("size", .integer, "how many bytes it has", isRequired: true),
        ], key: ["n"])

    static let meta = Table(
        "meta", aRowForEach: "fact about the export",
        [
            TableColumn(
                "key", .text,
                """
                `tool`, `tables`; `segments` where not all were asked for; for each input, from 1, `input.<n>`, and \
                `digest.<n>` if it is a bundle
                """,
                isRequired: true),
            TableColumn("value", .text, "the fact", isRequired: true),
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

/// A view of a database that answers a frequent question.
public struct TableView: Sendable {
    /// The name of the view.
    public let name: String
    /// The meaning of a row, as it completes "a row for each".
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
                SELECT day, system, type, count(*), count(DISTINCT client) FROM records
                GROUP BY day, system, type ORDER BY day, system, type
                """),
        TableView(
            name: "events_per_day", rowMeaning: "day, system, name and label of events",
            columns: ["day", "system", "name", "label", "events", "clients"],
            query: """
                SELECT substr(time, 1, 10), system, name, label, count(*), count(DISTINCT client) FROM events
                GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
                """),
    ]
}
