import JSONText
import Telemetry

/// Counts of the records of one client in a bundle: a line of `clients.ndjson`.
public struct ClientSummary: Sendable, Equatable {
    /// The system that knows the client.
    public let system: String
    /// The client as first met; nil for records without one.
    public let client: String?
    /// The client's records.
    public let records: Int
    /// The records that may be uploaded.
    public let uploadable: Int
    /// The events in its records, where they were counted; a bundle does not list them.
    public let events: Int
    /// Records by type.
    public let types: [String: Int]
    /// The names of its apps.
    public let apps: Set<String>
    /// The first time of a record.
    public let first: Timestamp?
    /// The last time of a record.
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
    /// Reads a line of `clients.ndjson`; nil if it is none.
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
