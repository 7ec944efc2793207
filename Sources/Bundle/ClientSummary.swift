import JSONText
import Telemetry

/// The counts of one client of a bundle, which are a line of `clients.ndjson`.
public struct ClientSummary: Sendable, Equatable {
    /// The system of the client.
    public let system: String
    /// The client ID as spelled in the first record, or `nil` for records without a client.
    public let client: String?
    /// The number of records.
    public let records: Int
    /// The number of records that may be uploaded.
    public let uploadable: Int
    /// The number of events in the records, or 0 if events were not counted.
    public let events: Int
    /// The number of records by type.
    public let types: [String: Int]
    /// The names of the apps of the client.
    public let apps: Set<String>
    /// The earliest time of a record.
    public let first: Timestamp?
    /// The latest time of a record.
    public let last: Timestamp?

    /// The summary as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("apps", strings: apps.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        object.set("client", string: client)
        object.set("first", string: first?.description)
        object.set("last", string: last?.description)
        object.set("records", integer: records)
        object.set("system", string: system)
        object.set("type", object: CanonicalObject(counts: types))
        object.set("uploadable", integer: uploadable)
        return object
    }
}

extension ClientSummary {
    /// Creates a summary from a line of `clients.ndjson`, or returns `nil` if the line is malformed.
    public init?(json bytes: [UInt8], knowing systems: SystemTable) {
        guard let fields = try? JSONFields(bytes), let system = fields.text("system"),
            let records = fields.integer("records"), let uploadable = fields.integer("uploadable"),
            let types = fields.object("type")
        else { return nil }
        self.init(
            system: system, client: fields.text("client"), records: records, uploadable: uploadable, events: 0,
            types: types.integers, apps: Set(fields.texts("apps") ?? []),
            first: fields.text("first").flatMap { Timestamp(rfc3339: $0) },
            last: fields.text("last").flatMap { Timestamp(rfc3339: $0) })
    }
}
