import Bytes
import JSONText
import Telemetry

/// The clients of a bundle, told apart without letter case: about 130 bytes each, for a bundle may have millions of them.
public struct ClientSummaries: Sendable {
    /// What is known of a client. Its id stands in `ids`. Most have one type and one app: further ones are `names` in a chain.
    private struct Entry {
        var records = 0
        var uploadable = 0
        var events = 0
        var first = Int64.max
        var last = Int64.min
        let idStart: Int
        /// The length of the id in bytes, or no value for records without a client.
        let idLength: OptionalUInt32
        /// The type of its first record, a place in `texts`. All records that `names` do not count are of it.
        let type: UInt32
        /// The app of its first record that has one, a place in `texts`.
        var app = OptionalUInt32(nil)
        /// The first of its further types and apps, a place in `names`.
        var names = OptionalUInt32(nil)
        /// A place in `systems`.
        let system: Int16
        let isASCII: Bool
    }

    /// A further type or app of a client.
    private struct Name {
        let client: UInt32
        /// Its place in `texts`.
        let text: UInt32
        /// The number of records of a type, or `nil` for an app.
        var records: Int?
        let next: OptionalUInt32
    }

    private var systems: [SystemName] = []
    private var entries = ChunkedArray<Entry>()
    private var names = ChunkedArray<Name>()
    private var ids: [UInt8] = []
    private var texts: [String] = []
    private var textPlaces: [String: UInt32] = [:]
    private var entryPlaces = PlaceTable()
    private var namePlaces = PlaceTable()
    /// The client of the last record as it was spelled, and its place: mostly the next record has the same.
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
        let type = textPlace(record.type)
        if entries[place].type != type { names[namePlace(type, ofClient: place, isApp: false)].records? += 1 }
        if let app = record.appName ?? record.appID { add(app: textPlace(app), toClient: place) }
        guard let time = record.time?.milliseconds else { return }
        entries[place].first = min(entries[place].first, time)
        entries[place].last = max(entries[place].last, time)
    }

    private mutating func add(app: UInt32, toClient place: Int) {
        guard let first = entries[place].app.value else {
            entries[place].app = OptionalUInt32(app)
            return
        }
        if first != app { _ = namePlace(app, ofClient: place, isApp: true) }
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
        let system = record.system
        let folded = record.client?.lowercased()
        let hash = Self.hash(system, folded)
        let found = entryPlaces.place(hash: hash) { isClient($0, of: system, folded: folded) }
        let place = found ?? entries.count
        if found == nil {
            let id = record.client?.utf8.prefix(Int(Int32.max))
            entries.append(
                Entry(
                    idStart: ids.count, idLength: OptionalUInt32(id.map { UInt32($0.count) }),
                    type: textPlace(record.type), system: systemPlace(system),
                    isASCII: id?.allSatisfy { $0 < 0x80 } ?? true))
            if let id { ids += id }
            let (known, systems, texts) = (entries, systems, ids)
            entryPlaces.insert(place) {
                Self.hash(systems[Int(known[$0].system)], Self.id(of: known[$0], in: texts)?.lowercased())
            }
        }
        last = (system, record.client, place)
        return place
    }

    private mutating func namePlace(_ text: UInt32, ofClient client: Int, isApp: Bool) -> Int {
        let hash = Self.hash(client, text, isApp)
        let found = namePlaces.place(hash: hash) { place in
            let name = names[place]
            return name.client == UInt32(client) && name.text == text && (name.records == nil) == isApp
        }
        if let found { return found }
        let place = names.count
        names.append(
            Name(client: UInt32(client), text: text, records: isApp ? nil : 0, next: entries[client].names))
        entries[client].names = OptionalUInt32(UInt32(place))
        let known = names
        namePlaces.insert(place) { Self.hash(Int(known[$0].client), known[$0].text, known[$0].records == nil) }
        return place
    }

    private mutating func textPlace(_ text: String) -> UInt32 {
        if let place = textPlaces[text] { return place }
        let place = UInt32(texts.count)
        texts.append(text)
        textPlaces[text] = place
        return place
    }

    /// There are as many systems as the table of them has.
    private mutating func systemPlace(_ system: SystemName) -> Int16 {
        if let place = systems.firstIndex(of: system) { return Int16(place) }
        systems.append(system)
        return Int16(systems.count - 1)
    }

    private static func hash(_ system: SystemName, _ folded: String?) -> Int {
        var hasher = Hasher()
        hasher.combine(system)
        hasher.combine(folded)
        return hasher.finalize()
    }

    private static func hash(_ client: Int, _ text: UInt32, _ isApp: Bool) -> Int {
        var hasher = Hasher()
        hasher.combine(client)
        hasher.combine(text)
        hasher.combine(isApp)
        return hasher.finalize()
    }

    private func system(of entry: Entry) -> SystemName { systems[Int(entry.system)] }

    private func id(_ place: Int) -> String? { Self.id(of: entries[place], in: ids) }

    private static func id(of entry: Entry, in ids: [UInt8]) -> String? {
        guard let length = entry.idLength.value else { return nil }
        return String(decoding: ids[entry.idStart..<entry.idStart + Int(length)], as: UTF8.self)
    }

    /// Whether a client is the one of a system and an id without upper case.
    private func isClient(_ place: Int, of system: SystemName, folded: String?) -> Bool {
        let entry = entries[place]
        guard self.system(of: entry) == system else { return false }
        guard let folded, let length = entry.idLength.value else { return folded == nil && entry.idLength.value == nil }
        // Texts beyond ASCII are equal by what they mean, not by their bytes.
        guard entry.isASCII, folded.utf8.allSatisfy({ $0 < 0x80 }) else { return self.folded(place) == folded }
        guard folded.utf8.count == Int(length) else { return false }
        return zip(folded.utf8, entry.idStart...).allSatisfy { Self.lowercase(ids[$1]) == $0 }
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
        let (first, second) = (Int(one.idLength.value ?? 0), Int(other.idLength.value ?? 0))
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
        if let app = entry.app.value { apps.insert(texts[Int(app)]) }
        var next = entry.names.value
        while let place = next {
            let name = names[Int(place)]
            let text = texts[Int(name.text)]
            if let records = name.records { types[text] = records } else { apps.insert(text) }
            next = name.next.value
        }
        types[texts[Int(entry.type)]] = entry.records - types.values.reduce(0, +)
        let hasTime = entry.first <= entry.last
        return ClientSummary(
            system: system(of: entry).description, client: id(place), records: entry.records,
            uploadable: entry.uploadable, events: entry.events, types: types, apps: apps,
            first: hasTime ? Timestamp(inAnyYear: entry.first) : nil,
            last: hasTime ? Timestamp(inAnyYear: entry.last) : nil)
    }
}
