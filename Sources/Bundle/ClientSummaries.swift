import Bytes
import Telemetry

/// Counts the records of each client of a bundle.
///
/// Client IDs are compared case-insensitively. A client uses about 150 bytes of memory, because a bundle can have
/// millions of clients.
public struct ClientSummaries: Sendable {
    /// A 128-bit hash that identifies a client.
    ///
    /// It is used as a key instead of the ID to save memory.
    ///
    /// `Hasher` uses a random seed in each run, so that no input can be made to produce two equal keys.
    private struct ClientKey: Hashable {
        private let firstHalf: Int
        private let secondHalf: Int

        init(_ system: SystemName, _ client: String?) {
            var hasher = Hasher()
            hasher.combine(system)
            hasher.combine(client?.lowercased())
            let prefix = hasher
            hasher.combine(true)
            firstHalf = prefix.finalize()
            secondHalf = hasher.finalize()
        }
    }

    /// The counts of a client.
    ///
    /// Most clients have one record type and one app. Additional types and apps form a linked list in `names`, which starts at `lastName`.
    private struct Entry {
        var recordCount = 0
        var uploadableCount = 0
        var eventCount = 0
        /// The index, in `idBytes`, of the first byte of the client ID.
        let idStart: Int
        /// The range of the times of the records, in milliseconds since 1970, or `nil` if no record has a time.
        var times: ClosedRange<Int64>?
        let isASCII: Bool
        /// The length of the client ID in bytes, or no value for records without a client.
        let idLength: OptionalUInt32
        /// The index, in `names`, of the last additional type or app.
        var lastName = OptionalUInt32(nil)
        /// The number, in `texts`, of the type of the records that are not counted in `names`.
        let typeNumber: UInt32
        /// The number of the system in `systems`.
        let systemNumber: UInt32
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

    private var systems = NumberedValues<SystemName>()
    private var texts = NumberedValues<String>()
    private var entries = ChunkedArray<Entry>()
    private var names = ChunkedArray<Name>()
    /// The client IDs, one after another.
    private var idBytes: [UInt8] = []
    private var clientIndices: [ClientKey: UInt32] = [:]
    private var nameIndices: [NameKey: UInt32] = [:]
    /// The client of the last record and its index.
    ///
    /// The next record usually has the same client.
    private var lastClient: (system: SystemName, client: String?, index: Int)?

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Counts a record.
    public mutating func count(_ record: borrowing RecordSummary, eventCount: Int = 0) {
        let index = clientIndex(of: record)
        entries[index].recordCount += 1
        entries[index].eventCount += eventCount
        if record.isUploadable { entries[index].uploadableCount += 1 }
        let type = texts.number(of: record.type)
        if entries[index].typeNumber != type { names[nameIndex(type, ofClient: index, isApp: false)].recordCount? += 1 }
        if let app = record.appName ?? record.appID { add(app: texts.number(of: app), toClient: index) }
        guard let time = record.time?.milliseconds else { return }
        let times = entries[index].times ?? time...time
        entries[index].times = min(times.lowerBound, time)...max(times.upperBound, time)
    }

    private mutating func add(app: UInt32, toClient index: Int) {
        guard let known = entries[index].appNumber.value else { return entries[index].appNumber = OptionalUInt32(app) }
        if known != app { _ = nameIndex(app, ofClient: index, isApp: true) }
    }

    /// The counts of all clients, sorted by system and client ID.
    public var sortedSummaries: some Sequence<ClientSummary> {
        sortedIndices.lazy.map { summary(at: Int($0)) }
    }
}

// MARK: - Finding

extension ClientSummaries {
    private mutating func clientIndex(of record: borrowing RecordSummary) -> Int {
        if let lastClient, lastClient.system == record.system, lastClient.client == record.client {
            return lastClient.index
        }
        let key = ClientKey(record.system, record.client)
        let index: Int
        if let known = clientIndices[key] {
            index = Int(known)
        } else {
            index = entries.count
            clientIndices[key] = UInt32(index)
            appendEntry(for: record)
        }
        lastClient = (record.system, record.client, index)
        return index
    }

    private mutating func appendEntry(for record: borrowing RecordSummary) {
        let id = record.client?.utf8.prefix(Int(Int32.max))
        entries.append(
            Entry(
                idStart: idBytes.count, isASCII: id?.allSatisfy { $0 < 0x80 } ?? true,
                idLength: OptionalUInt32(id.map { UInt32($0.count) }),
                typeNumber: texts.number(of: record.type), systemNumber: systems.number(of: record.system)))
        if let id { idBytes += id }
    }

    private mutating func nameIndex(_ text: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let key = NameKey(clientIndex: UInt32(client), textNumber: text, isApp: isApp)
        if let index = nameIndices[key] { return Int(index) }
        let index = names.count
        nameIndices[key] = UInt32(index)
        names.append(Name(textNumber: text, previousName: entries[client].lastName, recordCount: isApp ? nil : 0))
        entries[client].lastName = OptionalUInt32(UInt32(index))
        return index
    }

    private func system(of entry: Entry) -> SystemName { systems[entry.systemNumber] }

    private func clientID(at index: Int) -> String? {
        let entry = entries[index]
        return entry.idLength.value == nil ? nil : String(decoding: idBytes[idRange(of: entry)], as: UTF8.self)
    }

    /// Returns the range of the client ID in `idBytes`.
    ///
    /// The range is empty for records without a client.
    private func idRange(of entry: Entry) -> Range<Int> {
        entry.idStart..<entry.idStart + Int(entry.idLength.value ?? 0)
    }

    private func lowercasedID(at index: Int) -> String? { clientID(at: index)?.lowercased() }
}

// MARK: - The list

extension ClientSummaries {
    private var sortedIndices: [UInt32] {
        (0..<UInt32(entries.count)).sorted { left, right in
            let (one, other) = (entries[Int(left)], entries[Int(right)])
            guard one.systemNumber == other.systemNumber else { return system(of: one) < system(of: other) }
            return isBefore(one, other, Int(left), Int(right)) ?? (left < right)
        }
    }

    /// Returns whether the ID of the first client sorts before that of the second, or `nil` if the IDs are equal.
    private func isBefore(_ one: Entry, _ other: Entry, _ left: Int, _ right: Int) -> Bool? {
        guard one.isASCII, other.isASCII else {
            let (first, second) = (lowercasedID(at: left) ?? "", lowercasedID(at: right) ?? "")
            return first == second ? nil : first < second
        }
        let (first, second) = (idRange(of: one), idRange(of: other))
        for (index, otherIndex) in zip(first, second) {
            let (byte, against) = (idBytes[index].lowercased, idBytes[otherIndex].lowercased)
            if byte != against { return byte < against }
        }
        return first.count == second.count ? nil : first.count < second.count
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
            system: system(of: entry).description, client: clientID(at: index), recordCount: entry.recordCount,
            uploadableCount: entry.uploadableCount, eventCount: entry.eventCount, recordCountsByType: types, apps: apps,
            firstTime: entry.times.flatMap { Timestamp(inAnyYear: $0.lowerBound) },
            lastTime: entry.times.flatMap { Timestamp(inAnyYear: $0.upperBound) })
    }
}
