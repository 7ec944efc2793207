import JSONText
import Telemetry

/// What a bundle holds of one client: a line of `clients.ndjson`.
public struct ClientSummary: Sendable, Equatable {
    /// The system that knows the client.
    public let system: String
    /// The client as first met; nil for records without one.
    public let client: String?
    /// The client's records.
    public private(set) var records = 0
    /// Those that may be uploaded.
    public private(set) var uploadable = 0
    /// Records by type.
    public var types: [String: Int] { typeCounts.counts }
    private var typeCounts = Tally<String>()
    /// The names of its apps.
    public private(set) var apps: Set<String> = []
    /// The first time of a record.
    public private(set) var first: Timestamp?
    /// The last time of a record.
    public private(set) var last: Timestamp?

    mutating func count(_ record: borrowing RecordSummary) {
        records += 1
        if record.isUploadable { uploadable += 1 }
        typeCounts.add(record.type)
        if let name = record.appName ?? record.appID, !apps.contains(name) { apps.insert(name) }
        guard let time = record.time else { return }
        first = min(first ?? time, time)
        last = max(last ?? time, time)
    }

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

    fileprivate init(system: String, client: String?) {
        self.system = system
        self.client = client
    }

    /// Reads a line of `clients.ndjson`; nil if it is none.
    public init?(json bytes: [UInt8]) {
        guard let fields = try? JSONFields(bytes), let system = fields.text("system"),
            let records = fields.integer("records"), let uploadable = fields.integer("uploadable"),
            let types = fields.object("type")
        else { return nil }
        self.init(system: system, client: fields.text("client"))
        self.records = records
        self.uploadable = uploadable
        for (type, count) in types.integers { typeCounts.add(type, count) }
        apps = Set(fields.texts("apps") ?? [])
        first = fields.text("first").flatMap { Timestamp(rfc3339: $0) }
        last = fields.text("last").flatMap { Timestamp(rfc3339: $0) }
    }
}

/// The clients of a bundle, told apart without letter case.
public struct ClientSummaries: Sendable {
    private struct Key: Hashable {
        let system: TelemetrySystem
        let client: String?
    }

    private var places: [Key: Int] = [:]
    private var summaries: [(key: Key, summary: ClientSummary)] = []
    /// The client of the last record as it was spelled, and its place: mostly the next record has the same.
    private var last: (system: TelemetrySystem, client: String?, place: Int)?

    /// Makes an empty list.
    public init() {}

    /// Counts a record.
    public mutating func count(_ record: borrowing RecordSummary) {
        summaries[place(of: record)].summary.count(record)
    }

    private mutating func place(of record: borrowing RecordSummary) -> Int {
        if let last, last.system == record.system, last.client == record.client { return last.place }
        let key = Key(system: record.system, client: record.client?.lowercased())
        let place = places[key] ?? summaries.count
        if place == summaries.count {
            places[key] = place
            summaries.append((key, ClientSummary(system: record.system.rawValue, client: record.client)))
        }
        last = (record.system, record.client, place)
        return place
    }

    /// The clients by system and id; records without a client come first.
    public var sorted: [ClientSummary] {
        summaries.sorted { left, right in
            (left.key.system.rawValue, left.key.client ?? "") < (right.key.system.rawValue, right.key.client ?? "")
        }.map(\.summary)
    }
}
