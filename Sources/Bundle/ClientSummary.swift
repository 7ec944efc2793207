import Bytes
import JSONText
import Telemetry

/// The counts of one client of a bundle, stored as a line of `clients.ndjson`.
public struct ClientSummary: Sendable, Equatable {
    /// The system of the client.
    public let system: String
    /// The client ID as spelled in the first record, or `nil` for records without a client.
    public let client: String?
    /// The number of records of the client.
    public let recordCount: Int
    /// The number of records that may be uploaded.
    public let uploadableCount: Int
    /// The number of events in the records, or 0 if events were not counted.
    public let eventCount: Int
    /// The number of records by type.
    public let recordCountsByType: [CapturedText: Int]
    /// The names of the apps of the client, or the IDs of apps without a name.
    public let apps: Set<CapturedText>
    /// The earliest time of any record of the client, or `nil` if no record has a time.
    public let firstTime: Timestamp?
    /// The latest time of any record of the client, or `nil` if no record has a time.
    public let lastTime: Timestamp?

    /// The summary as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("apps", strings: apps.sortedStrings)
        object.set("client", string: client)
        object.set("first", string: firstTime?.description)
        object.set("last", string: lastTime?.description)
        object.set("records", integer: recordCount)
        object.set("system", string: system)
        object.set("type", object: CanonicalObject(counts: recordCountsByType))
        object.set("uploadable", integer: uploadableCount)
        return object
    }
}

extension ClientSummary {
    /// Creates a summary from a line of `clients.ndjson`, or returns `nil` if the line is malformed.
    public init?(json bytes: [UInt8], knowing systems: SystemTable) {
        guard let fields = try? JSONFields(bytes), let system = fields.text("system"),
            let recordCount = fields.count("records"), let uploadableCount = fields.count("uploadable"),
            let types = fields.object("type")?.counts
        else { return nil }
        self.init(
            system: system, client: fields.text("client"), recordCount: recordCount, uploadableCount: uploadableCount,
            eventCount: 0, recordCountsByType: types, apps: Set(texts: fields.texts("apps") ?? []),
            firstTime: fields.text("first").flatMap { Timestamp(rfc3339: $0) },
            lastTime: fields.text("last").flatMap { Timestamp(rfc3339: $0) })
    }
}
