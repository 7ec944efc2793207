import SQLite

/// A check that a database contains Leanplum's event table.
///
/// The check rejects a view with the name of the table, because reading a view can take forever.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section E.3.
package enum EventSchema {
    /// The maximum size of a row in bytes.
    package static let rowSizeLimit = 16 << 20

    /// The reason why a database has no readable events.
    package struct SchemaError: Error {
        /// The code: `no_event_table` or `unsupported_schema`.
        package let code: String
        package let reason: String

        static let noTable = SchemaError(code: "no_event_table", reason: "the database has no table named event")

        static func unsupported(_ reason: String) -> SchemaError {
            SchemaError(code: "unsupported_schema", reason: reason)
        }
    }

    /// Returns the number of other objects in the schema, or an error if the event table cannot be read.
    package static func check(_ database: PrivateDatabase) throws(PrivateDatabaseError) -> Result<Int, SchemaError> {
        let objects = try PrivateStatement("SELECT name, type, sql FROM sqlite_schema", in: database)
        var events = 0
        var isTable = false
        var otherObjects = 0
        while try objects.step() {
            guard objects.text(0) == "event" else {
                otherObjects += 1
                continue
            }
            events += 1
            isTable = objects.text(1) == "table" && objects.text(2).hasPrefix("CREATE TABLE")
        }
        guard events > 0 else { return .failure(.noTable) }
        guard events == 1, isTable else { return .failure(.unsupported("event is no plain table")) }
        if let fault = try columnError(in: database) { return .failure(fault) }
        let tables = try PrivateStatement("PRAGMA table_list(event)", in: database)
        while try tables.step() {
            guard tables.integer(4) == 0 else { return .failure(.unsupported("event has no row ids")) }
        }
        return .success(otherObjects)
    }

    private static func columnError(in database: PrivateDatabase) throws(PrivateDatabaseError) -> SchemaError? {
        let columns = try PrivateStatement("PRAGMA table_xinfo(event)", in: database)
        var hasData = false
        while try columns.step() {
            let name = columns.text(1).lowercased()
            // The value is 1 for a hidden column, and 2 or 3 for a generated one.
            guard columns.integer(6) == 0 else { return .unsupported("event has hidden or generated columns") }
            // A column with one of these names would hide the row ids.
            if ["rowid", "oid", "_rowid_"].contains(name) { return .unsupported("event has a column named \(name)") }
            if name == "data" { hasData = true }
        }
        return hasData ? nil : .unsupported("event has no column named data")
    }
}
