import Bytes
import JSONText
import Telemetry

/// A counter for the records of each client of a bundle.
///
/// Client IDs are compared case-insensitively. A client uses about 100 bytes of memory, because a bundle can have
/// millions of clients.
public struct ClientSummaries: Sendable {
    /// The counts of a client.
    ///
    /// Most clients have one record type and one app. Additional types and apps form a linked list in `names`, which
    /// starts at `lastName`.
    private struct Entry {
        var recordCount: UInt32 = 0
        var uploadableCount: UInt32 = 0
        /// The earliest time of any record in milliseconds since 1970, or a time after `lastTime` if no record has a
        /// time.
        var firstTime = Int64.max
        /// The latest time of any record in milliseconds since 1970, or the lowest value if no record has a time.
        var lastTime = Int64.min
        /// The index, in `names`, of the type or app that was added last, or no value if there is no entry in `names`.
        var lastName = OptionalUInt32(nil)
        /// The number, in `texts`, of the type of the first record.
        ///
        /// Records of this type are not counted in `names`.
        var typeNumber: UInt32 = 0
        /// The number, in `apps`, of the app of the first record with an app, or no value if no record has an app.
        var appNumber = OptionalUInt32(nil)

        var hasTime: Bool { firstTime <= lastTime }
    }

    /// The data about a client that only exports need.
    private struct ExportEntry {
        var eventCount = 0
        /// The number, in `texts`, of the app version in the latest record with a version, or no value if there is
        /// none.
        var versionNumber = OptionalUInt32(nil)
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

    /// An additional record type or an additional app of a client.
    private struct Name {
        /// The number of the type in `texts`, or of the app in `apps`.
        let number: UInt32
        /// The index of the previous type or app of the same client, or no value for the first one.
        let previousName: OptionalUInt32
        /// The number of records of the type, or `nil` for an app.
        var recordCount: UInt32?
    }

    private struct NameKey: Hashable {
        let clientIndex: UInt32
        let number: UInt32
        let isApp: Bool
    }

    /// The clients, numbered by their indices in `entries`.
    public private(set) var clients: ClientIndex
    /// The client IDs whose spelling in the first counted record differs from `clients`, keyed by client number.
    private var otherSpellings: [Int: String] = [:]
    private var texts = NumberedValues<CapturedText>()
    private var apps = NumberedValues<AppIdentity>()
    private var entries = ChunkedArray<Entry>()
    /// The data for exports about each client, or `nil` if no export is created.
    private var exportEntries: ChunkedArray<ExportEntry>?
    private var names = ChunkedArray<Name>()
    private var nameIndices: [NameKey: UInt32] = [:]

    /// Creates an empty counter that adds new clients to `clients`.
    ///
    /// `isForExport` states whether events and app versions are also collected.
    public init(addingTo clients: consuming ClientIndex = ClientIndex(), isForExport: Bool = false) {
        self.clients = clients
        exportEntries = isForExport ? ChunkedArray() : nil
    }

    /// Counts a record, and returns the number of its client in ``clients``.
    ///
    /// `eventCount` is the number of events in the record. It is used only for exports.
    @discardableResult
    public mutating func count(_ record: borrowing RecordSummary, eventCount: Int = 0) -> Int {
        let index = clients.number(of: record.client, system: record.system)
        while entries.count <= index { entries.append(Entry()) }
        if entries[index].recordCount == 0 {
            entries[index].typeNumber = texts.number(of: CapturedText(record.type))
            if let client = record.client, !clients.idBytes(ofClient: index).elementsEqual(client.utf8) {
                otherSpellings[index] = client
            }
        }
        entries[index].recordCount += 1
        if record.isUploadable { entries[index].uploadableCount += 1 }
        let type = texts.number(of: CapturedText(record.type))
        if entries[index].typeNumber != type { names[nameIndex(type, ofClient: index, isApp: false)].recordCount? += 1 }
        if let app = AppIdentity(record) { add(app: apps.number(of: app), toClient: index) }
        let time = record.time?.milliseconds
        if exportEntries != nil { addExportFacts(record, eventCount, toClient: index) }
        if let time {
            entries[index].firstTime = min(entries[index].firstTime, time)
            entries[index].lastTime = max(entries[index].lastTime, time)
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
            facts[index].versionNumber = OptionalUInt32(texts.number(of: CapturedText(version)))
            facts[index].versionTime = time
        }
    }

    private mutating func add(app: UInt32, toClient index: Int) {
        guard let known = entries[index].appNumber.value else { return entries[index].appNumber = OptionalUInt32(app) }
        if known != app { _ = nameIndex(app, ofClient: index, isApp: true) }
    }

    /// The counts of each client that has records, sorted by system and client ID.
    public var sortedSummaries: SortedSummaries { SortedSummaries(list: self, numbers: sortedNumbers) }

    /// A lazy collection of the counts of all clients that have records, sorted by system and client ID.
    ///
    /// A summary is created each time it is accessed.
    public struct SortedSummaries: RandomAccessCollection, Sendable {
        fileprivate let list: ClientSummaries
        fileprivate let numbers: [UInt32]

        /// The index of the first client.
        public var startIndex: Int { 0 }
        /// The index after the last client.
        public var endIndex: Int { numbers.count }

        /// Returns the counts of the client at `index`.
        public subscript(index: Int) -> ClientSummary { list.summary(at: Int(numbers[index])) }
    }

    /// The counts and the apps of each client that has records, sorted by system and client ID.
    public var sortedSummariesWithApps: some Sequence<(summary: ClientSummary, apps: ClientApps)> {
        sortedNumbers.lazy.map { (summary(at: Int($0)), apps(at: Int($0))) }
    }

    /// The numbers of the clients that have records, sorted by system and client ID.
    private var sortedNumbers: [UInt32] {
        clients.sortedNumbers { $0 < entries.count && entries[$0].recordCount > 0 }
    }
}

// MARK: - Types and apps

extension ClientSummaries {
    private mutating func nameIndex(_ number: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let key = NameKey(clientIndex: UInt32(client), number: number, isApp: isApp)
        if let index = nameIndices[key] { return Int(index) }
        let index = names.count
        nameIndices[key] = UInt32(index)
        names.append(Name(number: number, previousName: entries[client].lastName, recordCount: isApp ? nil : 0))
        entries[client].lastName = OptionalUInt32(UInt32(index))
        return index
    }

    private func summary(at index: Int) -> ClientSummary {
        let entry = entries[index]
        var types: [CapturedText: Int] = [:]
        forEachName(of: entry) { name in
            if let count = name.recordCount { types[texts[name.number]] = Int(count) }
        }
        types[texts[entry.typeNumber]] = Int(entry.recordCount) - types.values.reduce(0, +)
        return ClientSummary(
            system: clients.system(ofClient: index).description,
            client: otherSpellings[index] ?? clients.id(ofClient: index),
            recordCount: Int(entry.recordCount), uploadableCount: Int(entry.uploadableCount),
            eventCount: exportEntries?[index].eventCount ?? 0,
            recordCountsByType: types, apps: Set(texts: apps(of: entry).compactMap { $0.name ?? $0.id }),
            firstTime: entry.hasTime ? Timestamp(inAnyYear: entry.firstTime) : nil,
            lastTime: entry.hasTime ? Timestamp(inAnyYear: entry.lastTime) : nil)
    }

    /// Returns the IDs and names of the apps in the records of a client, and the latest app version.
    private func apps(at index: Int) -> ClientApps {
        let entry = entries[index]
        let apps = apps(of: entry)
        return ClientApps(
            ids: Set(texts: apps.compactMap(\.id)), names: Set(texts: apps.compactMap(\.name)),
            version: exportEntries?[index].versionNumber.value.map { texts[$0].string })
    }

    private func apps(of entry: Entry) -> Set<AppIdentity> {
        var found: Set<AppIdentity> = []
        if let app = entry.appNumber.value { found.insert(apps[app]) }
        forEachName(of: entry) { name in
            if name.recordCount == nil { found.insert(apps[name.number]) }
        }
        return found
    }

    /// Calls `body` with each additional type and app of the client that `entry` describes.
    private func forEachName(of entry: Entry, _ body: (Name) -> Void) {
        var next = entry.lastName.value
        while let index = next {
            let name = names[Int(index)]
            body(name)
            next = name.previousName.value
        }
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
