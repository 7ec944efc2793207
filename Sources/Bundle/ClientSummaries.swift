import Bytes
import Telemetry

/// Counts the records of each client of a bundle.
///
/// Client IDs are compared case-insensitively. A client uses about 150 bytes of memory, because a bundle can have
/// millions of clients.
public struct ClientSummaries: Sendable {
    /// The counts of a client.
    ///
    /// Most clients have one record type and one app. Additional types and apps form a linked list in `names`, which starts at `lastName`.
    private struct Entry {
        var recordCount = 0
        var uploadableCount = 0
        var eventCount = 0
        /// The range of the times of the records, in milliseconds since 1970, or `nil` if no record has a time.
        var times: ClosedRange<Int64>?
        /// The index, in `names`, of the last additional type or app.
        var lastName = OptionalUInt32(nil)
        /// The number, in `texts`, of the type of the records that are not counted in `names`.
        let typeNumber: UInt32
        /// The number, in `apps`, of the app of the first record that has one.
        var appNumber = OptionalUInt32(nil)
        /// The number, in `texts`, of the app version in the latest record that contains one.
        var versionNumber = OptionalUInt32(nil)
        /// The time of that record in milliseconds since 1970, or the lowest value if it has none.
        var versionTime = Int64.min
    }

    /// The id and the name of an app.
    private struct AppIdentity: Hashable {
        let id: String?
        let name: String?

        init?(_ record: borrowing RecordSummary) {
            (id, name) = (record.appID, record.appName)
            if id == nil, name == nil { return nil }
        }
    }

    /// The name of an additional record type or an additional app of a client.
    private struct Name {
        /// The number of the type in `texts`, or of the app in `apps`.
        let number: UInt32
        /// The index of the previous type or app of the same client.
        let previousName: OptionalUInt32
        /// The number of records of the type, or `nil` if the name is that of an app.
        var recordCount: UInt32?
    }

    private struct NameKey: Hashable {
        let clientIndex: UInt32
        let number: UInt32
        let isApp: Bool
    }

    /// The clients, whose numbers are indices of `entries`.
    public private(set) var clients = ClientIndex()
    private var texts = NumberedValues<String>()
    private var apps = NumberedValues<AppIdentity>()
    private var entries = ChunkedArray<Entry>()
    private var names = ChunkedArray<Name>()
    private var nameIndices: [NameKey: UInt32] = [:]

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Counts a record, and returns the number of its client in ``clients``.
    @discardableResult
    public mutating func count(_ record: borrowing RecordSummary, eventCount: Int = 0) -> Int {
        let index = clients.number(of: record.client, system: record.system)
        if index == entries.count { entries.append(Entry(typeNumber: texts.number(of: record.type))) }
        entries[index].recordCount += 1
        entries[index].eventCount += eventCount
        if record.isUploadable { entries[index].uploadableCount += 1 }
        let type = texts.number(of: record.type)
        if entries[index].typeNumber != type { names[nameIndex(type, ofClient: index, isApp: false)].recordCount? += 1 }
        if let app = AppIdentity(record) { add(app: apps.number(of: app), toClient: index) }
        let time = record.time?.milliseconds
        if let version = record.appVersion, time ?? .min >= entries[index].versionTime {
            entries[index].versionNumber = OptionalUInt32(texts.number(of: version))
            entries[index].versionTime = time ?? .min
        }
        if let time {
            let times = entries[index].times ?? time...time
            entries[index].times = min(times.lowerBound, time)...max(times.upperBound, time)
        }
        return index
    }

    private mutating func add(app: UInt32, toClient index: Int) {
        guard let known = entries[index].appNumber.value else { return entries[index].appNumber = OptionalUInt32(app) }
        if known != app { _ = nameIndex(app, ofClient: index, isApp: true) }
    }

    /// The counts of all clients, sorted by system and client ID.
    public var sortedSummaries: some Sequence<ClientSummary> {
        clients.sortedNumbers.lazy.map { summary(at: Int($0)) }
    }

    /// The counts and the apps of all clients, sorted by system and client ID.
    public var sortedSummariesWithApps: some Sequence<(summary: ClientSummary, apps: ClientApps)> {
        clients.sortedNumbers.lazy.map { (summary(at: Int($0)), apps(at: Int($0))) }
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
        var types: [String: Int] = [:]
        forEachName(of: entry) { name in
            if let count = name.recordCount { types[texts[name.number]] = Int(count) }
        }
        types[texts[entry.typeNumber]] = entry.recordCount - types.values.reduce(0, +)
        return ClientSummary(
            system: clients.system(ofClient: index).description, client: clients.id(ofClient: index),
            recordCount: entry.recordCount, uploadableCount: entry.uploadableCount, eventCount: entry.eventCount,
            recordCountsByType: types, apps: Set(apps(of: entry).compactMap { $0.name ?? $0.id }),
            firstTime: entry.times.flatMap { Timestamp(inAnyYear: $0.lowerBound) },
            lastTime: entry.times.flatMap { Timestamp(inAnyYear: $0.upperBound) })
    }

    /// Returns the app identifiers and the app version in the records of a client.
    private func apps(at index: Int) -> ClientApps {
        let entry = entries[index]
        let apps = apps(of: entry)
        return ClientApps(
            ids: Set(apps.compactMap(\.id)), names: Set(apps.compactMap(\.name)),
            version: entry.versionNumber.value.map { texts[$0] })
    }

    private func apps(of entry: Entry) -> Set<AppIdentity> {
        var found: Set<AppIdentity> = []
        if let app = entry.appNumber.value { found.insert(apps[app]) }
        forEachName(of: entry) { name in
            if name.recordCount == nil { found.insert(apps[name.number]) }
        }
        return found
    }

    /// Calls `body` with the additional types and apps of a client.
    private func forEachName(of entry: Entry, _ body: (Name) -> Void) {
        var next = entry.lastName.value
        while let index = next {
            let name = names[Int(index)]
            body(name)
            next = name.previousName.value
        }
    }
}

/// The apps of a client, as needed by exports but not by `clients.ndjson`.
public struct ClientApps: Sendable, Equatable {
    /// The ids of the apps.
    public let ids: Set<String>
    /// The names of the apps.
    public let names: Set<String>
    /// The app version in the latest record that contains a version.
    public let version: String?
}
