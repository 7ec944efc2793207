import JSONText
import Telemetry

/// The clients of a bundle, which are compared without letter case. A client takes about 150 bytes, because a bundle may have
/// millions of them.
public struct ClientSummaries: Sendable {
    /// Identifies a client by a hash of 128 bits, so that its id is stored once, as spelled.
    ///
    /// `Hasher` has a random seed in each run, so that nobody can create two clients with the same key.
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

    /// The counts of a client. Its id is stored in `ids`. Most clients have one type and one app. Further ones form a list in
    /// `names`.
    private struct Entry {
        var records = 0
        var uploadable = 0
        var events = 0
        var first = Int64.max
        var last = Int64.min
        let idStart: Int
        /// Less than 0 for records without a client.
        let idLength: Int32
        /// The index in `names` of the last further type or app; less than 0 for none.
        var names: Int32 = -1
        /// The number of the type of the first record in `texts`. All records that `names` do not count are of this type.
        let type: UInt32
        /// The number of the system in `systems`.
        let system: UInt32
        /// The number of the app of the first record that has one in `texts`.
        var app: UInt32?
        let isASCII: Bool
    }

    /// A further type or app of a client.
    private struct Name {
        /// Its number in `texts`.
        let text: UInt32
        /// The index of the one before, less than 0 for none.
        let next: Int32
        /// The number of records; less than 0 for an app.
        var count: Int
    }

    private struct NameKey: Hashable {
        let client: Int32
        let text: UInt32
        let isApp: Bool
    }

    private var systems = NumberedValues<SystemName>()
    private var texts = NumberedValues<String>()
    private var entries = ChunkedArray<Entry>()
    private var names = ChunkedArray<Name>()
    private var ids: [UInt8] = []
    private var places: [Key: Int32] = [:]
    private var namePlaces: [NameKey: Int32] = [:]
    /// The client of the last record as spelled, and its index. The next record mostly has the same client.
    private var last: (system: SystemName, client: String?, place: Int)?

    /// How many clients there are.
    public var count: Int { entries.count }

    /// Makes an empty list.
    public init() {}

    /// Counts a record.
    /// - Parameter events: how many events are in it, where that is of interest.
    public mutating func count(_ record: borrowing RecordSummary, events: Int = 0) {
        let place = place(of: record)
        entries[place].records += 1
        entries[place].events += events
        if record.isUploadable { entries[place].uploadable += 1 }
        let type = texts.number(of: record.type)
        if entries[place].type != type { names[namePlace(type, ofClient: place, isApp: false)].count += 1 }
        if let app = record.appName ?? record.appID { add(app: texts.number(of: app), toClient: place) }
        guard let time = record.time?.milliseconds else { return }
        entries[place].first = min(entries[place].first, time)
        entries[place].last = max(entries[place].last, time)
    }

    private mutating func add(app: UInt32, toClient place: Int) {
        guard let known = entries[place].app else { return entries[place].app = app }
        if known != app { _ = namePlace(app, ofClient: place, isApp: true) }
    }

    /// The clients by system and id; records without a client come first.
    public var sorted: some Sequence<ClientSummary> {
        order.lazy.map { summary(Int($0)) }
    }
}

// MARK: - Finding

extension ClientSummaries {
    private mutating func place(of record: borrowing RecordSummary) -> Int {
        if let last, last.system == record.system, last.client == record.client { return last.place }
        let key = Key(record.system, record.client)
        let place: Int
        if let known = places[key] {
            place = Int(known)
        } else {
            place = entries.count
            places[key] = Int32(place)
            appendEntry(for: record)
        }
        last = (record.system, record.client, place)
        return place
    }

    private mutating func appendEntry(for record: borrowing RecordSummary) {
        let id = record.client?.utf8.prefix(Int(Int32.max))
        entries.append(
            Entry(
                idStart: ids.count, idLength: id.map { Int32(clamping: $0.count) } ?? -1,
                type: texts.number(of: record.type), system: systems.number(of: record.system),
                isASCII: id?.allSatisfy { $0 < 0x80 } ?? true))
        if let id { ids += id }
    }

    private mutating func namePlace(_ text: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let key = NameKey(client: Int32(client), text: text, isApp: isApp)
        if let place = namePlaces[key] { return Int(place) }
        let place = names.count
        namePlaces[key] = Int32(place)
        names.append(Name(text: text, next: entries[client].names, count: isApp ? -1 : 0))
        entries[client].names = Int32(place)
        return place
    }

    private func system(of entry: Entry) -> SystemName { systems[entry.system] }

    private func id(_ place: Int) -> String? {
        let entry = entries[place]
        guard entry.idLength >= 0 else { return nil }
        return String(decoding: ids[entry.idStart..<entry.idStart + Int(entry.idLength)], as: UTF8.self)
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
    }

    private func folded(_ place: Int) -> String? { id(place)?.lowercased() }
}

// MARK: - The list

extension ClientSummaries {
    private var order: [Int32] {
        (0..<Int32(entries.count)).sorted { left, right in
            let (one, other) = (entries[Int(left)], entries[Int(right)])
            guard one.system == other.system else { return system(of: one) < system(of: other) }
            switch isBefore(one, other, Int(left), Int(right)) {
            case .some(let isBefore): return isBefore
            case nil: return left < right
            }
        }
    }

    /// Whether the id of a client comes before that of another one; nil if they are equal.
    private func isBefore(_ one: Entry, _ other: Entry, _ left: Int, _ right: Int) -> Bool? {
        guard one.isASCII, other.isASCII else {
            let (first, second) = (folded(left) ?? "", folded(right) ?? "")
            return first == second ? nil : first < second
        }
        let (first, second) = (Int(max(one.idLength, 0)), Int(max(other.idLength, 0)))
        for index in 0..<min(first, second) {
            let (byte, against) = (
                Self.lowercase(ids[one.idStart + index]), Self.lowercase(ids[other.idStart + index])
            )
            if byte != against { return byte < against }
        }
        return first == second ? nil : first < second
    }

    private func summary(_ place: Int) -> ClientSummary {
        let entry = entries[place]
        var types: [String: Int] = [:]
        var apps: Set<String> = []
        if let app = entry.app { apps.insert(texts[app]) }
        var next = entry.names
        while next >= 0 {
            let name = names[Int(next)]
            if name.count < 0 { apps.insert(texts[name.text]) } else { types[texts[name.text]] = name.count }
            next = name.next
        }
        types[texts[entry.type]] = entry.records - types.values.reduce(0, +)
        let hasTime = entry.first <= entry.last
        return ClientSummary(
            system: system(of: entry).description, client: id(place), records: entry.records,
            uploadable: entry.uploadable, events: entry.events, types: types, apps: apps,
            first: hasTime ? Timestamp(inAnyYear: entry.first) : nil,
            last: hasTime ? Timestamp(inAnyYear: entry.last) : nil)
    }
}
