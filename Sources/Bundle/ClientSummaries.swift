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
    private struct Key: Hashable {
        private let first: Int
        private let second: Int

        init(_ system: SystemName, _ client: String?) {
            var hasher = Hasher()
            hasher.combine(system)
            hasher.combine(client?.lowercased())
            let prefix = hasher
            hasher.combine(true)
            first = prefix.finalize()
            second = hasher.finalize()
        }
    }

    /// The counts of a client.
    ///
    /// Most clients have one record type and one app. Additional types and apps form a linked list in `names`.
    private struct Entry {
        var records = 0
        var uploadable = 0
        var events = 0
        let idStart: Int
        /// The range of the times of the records, in milliseconds since 1970, or `nil` if no record has a time.
        var times: ClosedRange<Int64>?
        let isASCII: Bool
        /// The length of the client ID in bytes, or no value for records without a client.
        let idLength: OptionalUInt32
        /// The index, in `names`, of the last additional type or app.
        var names = OptionalUInt32(nil)
        /// The number, in `texts`, of the type of the records that are not counted in `names`.
        let type: UInt32
        /// The number of the system in `systems`.
        let system: UInt32
        /// The number, in `texts`, of the app of the first record that has one.
        var app = OptionalUInt32(nil)
    }

    /// An additional record type or app of a client.
    private struct Name {
        /// The number of the type or app in `texts`.
        let text: UInt32
        /// The index of the previous type or app of the same client.
        let next: OptionalUInt32
        /// The number of records of the type, or `nil` if the name is that of an app.
        var records: UInt32?
    }

    private struct NameKey: Hashable {
        let client: UInt32
        let text: UInt32
        let isApp: Bool
    }

    private var systems = NumberedValues<SystemName>()
    private var texts = NumberedValues<String>()
    private var entries = ChunkedArray<Entry>()
    private var names = ChunkedArray<Name>()
    private var ids: [UInt8] = []
    private var indices: [Key: UInt32] = [:]
    private var nameIndices: [NameKey: UInt32] = [:]
    /// The client of the last record and its index.
    ///
    /// The next record usually has the same client.
    private var last: (system: SystemName, client: String?, index: Int)?

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Counts a record.
    public mutating func count(_ record: borrowing RecordSummary, events: Int = 0) {
        let index = index(of: record)
        entries[index].records += 1
        entries[index].events += events
        if record.isUploadable { entries[index].uploadable += 1 }
        let type = texts.number(of: record.type)
        if entries[index].type != type { names[nameIndex(type, ofClient: index, isApp: false)].records? += 1 }
        if let app = record.appName ?? record.appID { add(app: texts.number(of: app), toClient: index) }
        guard let time = record.time?.milliseconds else { return }
        let times = entries[index].times ?? time...time
        entries[index].times = min(times.lowerBound, time)...max(times.upperBound, time)
    }

    private mutating func add(app: UInt32, toClient index: Int) {
        guard let known = entries[index].app.value else { return entries[index].app = OptionalUInt32(app) }
        if known != app { _ = nameIndex(app, ofClient: index, isApp: true) }
    }

    /// The counts of all clients, sorted by system and client ID.
    public var sorted: some Sequence<ClientSummary> {
        order.lazy.map { summary(Int($0)) }
    }
}

// MARK: - Finding

extension ClientSummaries {
    private mutating func index(of record: borrowing RecordSummary) -> Int {
        if let last, last.system == record.system, last.client == record.client { return last.index }
        let key = Key(record.system, record.client)
        let index: Int
        if let known = indices[key] {
            index = Int(known)
        } else {
            index = entries.count
            indices[key] = UInt32(index)
            appendEntry(for: record)
        }
        last = (record.system, record.client, index)
        return index
    }

    private mutating func appendEntry(for record: borrowing RecordSummary) {
        let id = record.client?.utf8.prefix(Int(Int32.max))
        entries.append(
            Entry(
                idStart: ids.count, isASCII: id?.allSatisfy { $0 < 0x80 } ?? true,
                idLength: OptionalUInt32(id.map { UInt32($0.count) }),
                type: texts.number(of: record.type), system: systems.number(of: record.system)))
        if let id { ids += id }
    }

    private mutating func nameIndex(_ text: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let key = NameKey(client: UInt32(client), text: text, isApp: isApp)
        if let index = nameIndices[key] { return Int(index) }
        let index = names.count
        nameIndices[key] = UInt32(index)
        names.append(Name(text: text, next: entries[client].names, records: isApp ? nil : 0))
        entries[client].names = OptionalUInt32(UInt32(index))
        return index
    }

    private func system(of entry: Entry) -> SystemName { systems[entry.system] }

    private func id(_ index: Int) -> String? {
        let entry = entries[index]
        return entry.idLength.value == nil ? nil : String(decoding: ids[idRange(entry)], as: UTF8.self)
    }

    /// Returns the range of the client ID in `ids`.
    ///
    /// The range is empty for records without a client.
    private func idRange(_ entry: Entry) -> Range<Int> {
        entry.idStart..<entry.idStart + Int(entry.idLength.value ?? 0)
    }

    private func folded(_ index: Int) -> String? { id(index)?.lowercased() }
}

// MARK: - The list

extension ClientSummaries {
    private var order: [UInt32] {
        (0..<UInt32(entries.count)).sorted { left, right in
            let (one, other) = (entries[Int(left)], entries[Int(right)])
            guard one.system == other.system else { return system(of: one) < system(of: other) }
            return isBefore(one, other, Int(left), Int(right)) ?? (left < right)
        }
    }

    /// Returns whether the ID of the first client sorts before that of the second, or `nil` if the IDs are equal.
    private func isBefore(_ one: Entry, _ other: Entry, _ left: Int, _ right: Int) -> Bool? {
        guard one.isASCII, other.isASCII else {
            let (first, second) = (folded(left) ?? "", folded(right) ?? "")
            return first == second ? nil : first < second
        }
        let (first, second) = (idRange(one), idRange(other))
        for (index, otherIndex) in zip(first, second) {
            let (byte, against) = (ids[index].lowercased, ids[otherIndex].lowercased)
            if byte != against { return byte < against }
        }
        return first.count == second.count ? nil : first.count < second.count
    }

    private func summary(_ index: Int) -> ClientSummary {
        let entry = entries[index]
        var types: [String: Int] = [:]
        var apps: Set<String> = []
        if let app = entry.app.value { apps.insert(texts[app]) }
        var next = entry.names.value
        while let nameIndex = next {
            let name = names[Int(nameIndex)]
            if let records = name.records {
                types[texts[name.text]] = Int(records)
            } else {
                apps.insert(texts[name.text])
            }
            next = name.next.value
        }
        types[texts[entry.type]] = entry.records - types.values.reduce(0, +)
        return ClientSummary(
            system: system(of: entry).description, client: id(index), records: entry.records,
            uploadable: entry.uploadable, events: entry.events, types: types, apps: apps,
            first: entry.times.flatMap { Timestamp(inAnyYear: $0.lowerBound) },
            last: entry.times.flatMap { Timestamp(inAnyYear: $0.upperBound) })
    }
}
