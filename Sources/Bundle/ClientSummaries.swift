import Bytes
import JSONText
import Telemetry

/// A counter for the records of each client of a bundle.
///
/// Client IDs are compared case-insensitively. Names are stored as numbers, so that a client uses 120 bytes of memory: a
/// ``ClientSummary`` for each of 1,300,000 clients would use more than 500 MB.
public struct ClientSummaries: Sendable {
    /// The counts of a client.
    private struct Entry {
        var recordCount: UInt32 = 0
        var uploadableCount: UInt32 = 0
        /// The earliest and the latest time of any record in milliseconds since 1970, or `nil` if no record has a time.
        var times: ClosedRange<Int64>?
        /// The number, in `texts`, of the type of the first record.
        var typeNumber: UInt32 = 0
        /// The number, in `apps`, of the app of the first record with an app, or `nil` if no record has an app.
        var appNumber: UInt32?
    }

    /// The types and apps of a client other than those of its `Entry`.
    ///
    /// They are stored separately, because most clients have one type and one app.
    private struct FurtherNames {
        /// The number of records of each type, by the number of the type in `texts`.
        var typeCounts: [UInt32: Int] = [:]
        /// The numbers of the apps in `apps`.
        var apps: Set<UInt32> = []
    }

    /// The data about a client that only exports need.
    private struct ExportEntry {
        var eventCount = 0
        /// The number, in `texts`, of the app version in the latest record with a version, or `nil` if there is none.
        var versionNumber: UInt32?
        /// The time, in milliseconds since 1970, of the record that contains the app version, or the lowest value if
        /// the record has no time.
        var versionTime = Int64.min
    }

    /// The id and the name of an app.
    private struct AppIdentity: Hashable {
        @OptionalCapturedText private(set) var id: String?
        @OptionalCapturedText private(set) var name: String?

        init?(_ record: borrowing RecordSummary) {
            (id, name) = (record.appID, record.appName)
            if id == nil, name == nil { return nil }
        }
    }

    /// The clients, numbered by their indices in `entries`.
    public private(set) var clients: ClientIndex
    /// The client IDs whose spelling in the first counted record differs from `clients`, keyed by client number.
    private var otherSpellings: [Int: String] = [:]
    private var texts = NumberedValues<CapturedText>()
    private var apps = NumberedValues<AppIdentity>()
    private var entries: [Entry] = []
    /// The further types and apps of the clients that have several, keyed by client number.
    private var furtherNames: [Int: FurtherNames] = [:]
    /// The data for exports about each client, or `nil` if no export is created.
    private var exportEntries: [ExportEntry]?

    /// Creates an empty counter that adds new clients to `clients`.
    ///
    /// `isForExport` states whether events and app versions are also collected.
    public init(addingTo clients: consuming ClientIndex = ClientIndex(), isForExport: Bool = false) {
        self.clients = clients
        exportEntries = isForExport ? [] : nil
    }

    /// Counts a record, and returns the number of its client in ``clients``.
    ///
    /// `eventCount` is the number of events in the record. It is used only for exports.
    @discardableResult
    public mutating func count(_ record: borrowing RecordSummary, eventCount: Int = 0) -> Int {
        let index = clients.number(of: record.client, system: record.system)
        while entries.count <= index { entries.append(Entry()) }
        let type = texts.number(of: CapturedText(record.type))
        if entries[index].recordCount == 0 {
            entries[index].typeNumber = type
            if let client = record.client, !clients.idBytes(ofClient: index).elementsEqual(client.utf8) {
                otherSpellings[index] = client
            }
        }
        entries[index].recordCount += 1
        if record.isUploadable { entries[index].uploadableCount += 1 }
        if entries[index].typeNumber != type {
            furtherNames[index, default: FurtherNames()].typeCounts[type, default: 0] += 1
        }
        if let app = AppIdentity(record) { add(app: apps.number(of: app), toClient: index) }
        if exportEntries != nil { addExportFacts(record, eventCount, toClient: index) }
        if let time = record.time?.milliseconds {
            let times = entries[index].times ?? time...time
            entries[index].times = min(times.lowerBound, time)...max(times.upperBound, time)
        }
        return index
    }

    private mutating func addExportFacts(_ record: borrowing RecordSummary, _ eventCount: Int, toClient index: Int) {
        guard var facts = exportEntries.take() else { return }
        defer { exportEntries = facts }
        while facts.count <= index { facts.append(ExportEntry()) }
        facts[index].eventCount += eventCount
        let time = record.time?.milliseconds ?? .min
        if let version = record.appVersion, time >= facts[index].versionTime {
            facts[index].versionNumber = texts.number(of: CapturedText(version))
            facts[index].versionTime = time
        }
    }

    private mutating func add(app: UInt32, toClient index: Int) {
        guard let known = entries[index].appNumber else { return entries[index].appNumber = app }
        if known != app { furtherNames[index, default: FurtherNames()].apps.insert(app) }
    }

    // MARK: Summaries

    /// The numbers of the clients that have records, sorted by system and client ID.
    public var sortedNumbers: [Int] {
        clients.sortedNumbers { $0 < entries.count && entries[$0].recordCount > 0 }.map { Int($0) }
    }

    /// Returns the counts of the client with the number `number`.
    public func summary(ofClient number: Int) -> ClientSummary {
        let entry = entries[number]
        var types: [CapturedText: Int] = [:]
        for (type, count) in furtherNames[number]?.typeCounts ?? [:] { types[texts[type]] = count }
        types[texts[entry.typeNumber]] = Int(entry.recordCount) - types.values.reduce(0, +)
        return ClientSummary(
            system: clients.system(ofClient: number).description,
            client: otherSpellings[number] ?? clients.id(ofClient: number),
            recordCount: Int(entry.recordCount), uploadableCount: Int(entry.uploadableCount),
            eventCount: exportEntries?[number].eventCount ?? 0,
            recordCountsByType: types, apps: Set(texts: apps(of: number).compactMap { $0.name ?? $0.id }),
            firstTime: entry.times.flatMap { Timestamp(inAnyYear: $0.lowerBound) },
            lastTime: entry.times.flatMap { Timestamp(inAnyYear: $0.upperBound) })
    }

    /// Returns the IDs and names of the apps in the records of a client, and the latest app version.
    public func apps(ofClient number: Int) -> ClientApps {
        let apps = apps(of: number)
        return ClientApps(
            ids: Set(texts: apps.compactMap(\.id)), names: Set(texts: apps.compactMap(\.name)),
            version: exportEntries?[number].versionNumber.map { texts[$0].string })
    }

    private func apps(of number: Int) -> [AppIdentity] {
        guard let first = entries[number].appNumber else { return [] }
        return [apps[first]] + (furtherNames[number]?.apps.map { apps[$0] } ?? [])
    }
}

/// The apps of a client, with details that only exports need.
public struct ClientApps: Sendable, Equatable {
    /// The IDs of the apps.
    public let ids: Set<CapturedText>
    /// The names of the apps.
    public let names: Set<CapturedText>
    /// The app version in the latest record that contains a version, or `nil` if no version was collected.
    public let version: String?
}

// MARK: - ClientSummary

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
        [
            "apps": apps.sortedStrings, "client": client, "first": firstTime?.description,
            "last": lastTime?.description, "records": recordCount, "system": system,
            "type": CanonicalObject(counts: recordCountsByType), "uploadable": uploadableCount,
        ]
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
