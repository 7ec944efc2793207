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
        /// The number, in `texts`, of the app of the first record that has one.
        var appNumber = OptionalUInt32(nil)
    }

    /// The name of an additional record type or an additional app of a client.
    private struct Name {
        /// The number of the type or app in `texts`.
        let textNumber: UInt32
        /// The index of the previous type or app of the same client.
        let previousName: OptionalUInt32
        /// The number of records of the type, or `nil` if the name is that of an app.
        var recordCount: UInt32?
    }

    private struct NameKey: Hashable {
        let clientIndex: UInt32
        let textNumber: UInt32
        let isApp: Bool
    }

    /// The clients, whose numbers are indices of `entries`.
    public private(set) var clients = ClientIndex()
    private var texts = NumberedValues<String>()
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
        if let app = record.appName ?? record.appID { add(app: texts.number(of: app), toClient: index) }
        if let time = record.time?.milliseconds {
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
}

// MARK: - Types and apps

extension ClientSummaries {
    private mutating func nameIndex(_ text: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let key = NameKey(clientIndex: UInt32(client), textNumber: text, isApp: isApp)
        if let index = nameIndices[key] { return Int(index) }
        let index = names.count
        nameIndices[key] = UInt32(index)
        names.append(Name(textNumber: text, previousName: entries[client].lastName, recordCount: isApp ? nil : 0))
        entries[client].lastName = OptionalUInt32(UInt32(index))
        return index
    }

    private func summary(at index: Int) -> ClientSummary {
        let entry = entries[index]
        var types: [String: Int] = [:]
        var apps: Set<String> = []
        if let app = entry.appNumber.value { apps.insert(texts[app]) }
        var next = entry.lastName.value
        while let nameIndex = next {
            let name = names[Int(nameIndex)]
            if let count = name.recordCount {
                types[texts[name.textNumber]] = Int(count)
            } else {
                apps.insert(texts[name.textNumber])
            }
            next = name.previousName.value
        }
        types[texts[entry.typeNumber]] = entry.recordCount - types.values.reduce(0, +)
        return ClientSummary(
            system: clients.system(ofClient: index).description, client: clients.id(ofClient: index),
            recordCount: entry.recordCount, uploadableCount: entry.uploadableCount, eventCount: entry.eventCount,
            recordCountsByType: types, apps: apps,
            firstTime: entry.times.flatMap { Timestamp(inAnyYear: $0.lowerBound) },
            lastTime: entry.times.flatMap { Timestamp(inAnyYear: $0.upperBound) })
    }
}
