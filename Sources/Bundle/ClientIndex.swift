import Bytes
import Telemetry

/// A list of distinct clients, which are numbered consecutively in the order in which they were added.
///
/// Client IDs that differ only in the case of ASCII letters are the same client. Records of a system without a client
/// belong to a client without an ID. The IDs are stored one after another, so that a client uses 80 bytes of memory: a
/// dictionary of strings would use 190, and a plan for 1,300,000 clients more than 500 MB.
public struct ClientIndex: Sendable {
    private struct Entry {
        /// The range of the client ID in `ids`, or `nil` for records without a client.
        let idRange: Range<Int>?
        /// The number of the system in `systems`.
        let systemNumber: UInt32
    }

    private var systems = NumberedValues<SystemName>()
    private var entries: [Entry] = []
    /// The client IDs, one after another.
    private var ids: [UInt8] = []
    /// The numbers of the clients, by hash.
    private var numbers: [Int: UInt32] = [:]
    /// The client that was looked up last, and its number.
    ///
    /// The next record usually has the same client, and a lookup in `numbers` takes seven times as long.
    private var lastClient: (system: SystemName, id: CapturedText?, number: Int)?

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Returns the number of the client with the ID `client` in `system`.
    ///
    /// The client is added if it is new. `client` is `nil` for records without a client.
    public mutating func number(of client: String?, system: SystemName) -> Int {
        let id = client.map { CapturedText($0) }
        if let lastClient, lastClient.system == system, lastClient.id == id { return lastClient.number }
        let systemNumber = systems.number(of: system)
        let hash = freeOrUsedHash(of: client, systemNumber)
        let number = numbers[hash].map { Int($0) } ?? entries.count
        if number == entries.count {
            numbers[hash] = UInt32(number)
            let start = ids.count
            if let client { ids += client.utf8 }
            entries.append(Entry(idRange: client == nil ? nil : start..<ids.count, systemNumber: systemNumber))
        }
        lastClient = (system, id, number)
        return number
    }

    /// Returns the number of the client with the ID `client` in `system`, or `nil` if the client was not added.
    public func existingNumber(of client: String?, system: SystemName) -> Int? {
        guard let systemNumber = systems.values.firstIndex(of: system) else { return nil }
        return numbers[freeOrUsedHash(of: client, UInt32(systemNumber))].map { Int($0) }
    }

    /// Returns the key of a client in `numbers`, or the key to use for the client if it is new.
    ///
    /// The key is the hash of the client, or the next free number if another client has the same hash. `Hasher` uses a
    /// random seed in each run, so that no input can be crafted to cause many such collisions.
    private func freeOrUsedHash(of client: String?, _ systemNumber: UInt32) -> Int {
        var hasher = Hasher()
        hasher.combine(systemNumber)
        hasher.combine(lowercasedASCIIOf: client)
        var hash = hasher.finalize()
        while let number = numbers[hash], !isEqual(entries[Int(number)], client, systemNumber) { hash &+= 1 }
        return hash
    }

    private func isEqual(_ entry: Entry, _ client: String?, _ systemNumber: UInt32) -> Bool {
        guard entry.systemNumber == systemNumber else { return false }
        guard let client, let range = entry.idRange else { return client == nil && entry.idRange == nil }
        return range.count == client.utf8.count
            && zip(range, client.utf8).allSatisfy { ids[$0].lowercased == $1.lowercased }
    }

    // MARK: Clients

    /// Returns the system of the client with the number `number`.
    public func system(ofClient number: Int) -> SystemName { systems[entries[number].systemNumber] }

    /// Returns the ID of the client `number` as it was first added, or `nil` for records without a client.
    public func id(ofClient number: Int) -> String? {
        entries[number].idRange.map { String(decoding: ids[$0], as: UTF8.self) }
    }

    /// Returns the bytes of the ID of the client `number` as first added, or no bytes for records without a client.
    public func idBytes(ofClient number: Int) -> ArraySlice<UInt8> { ids[entries[number].idRange ?? 0..<0] }
}

// MARK: - Order

extension ClientIndex {
    /// Returns the numbers of the clients that `isIncluded` accepts, sorted by system and by client ID in lowercase.
    public func sortedNumbers(where isIncluded: (Int) -> Bool = { _ in true }) -> [UInt32] {
        var numbers = (0..<UInt32(entries.count)).filter { isIncluded(Int($0)) }
        numbers.sort { left, right in
            let (one, other) = (entries[Int(left)], entries[Int(right)])
            guard one.systemNumber == other.systemNumber else {
                return systems[one.systemNumber] < systems[other.systemNumber]
            }
            return isBefore(one, other) ?? (left < right)
        }
        return numbers
    }

    /// Returns whether the lowercase ID of `one` sorts before the lowercase ID of `other`, or `nil` if they are equal.
    private func isBefore(_ one: Entry, _ other: Entry) -> Bool? {
        let (first, second) = (one.idRange ?? 0..<0, other.idRange ?? 0..<0)
        for (index, otherIndex) in zip(first, second) {
            let (byte, against) = (ids[index].lowercased, ids[otherIndex].lowercased)
            if byte != against { return byte < against }
        }
        return first.count == second.count ? nil : first.count < second.count
    }
}

extension Hasher {
    /// Adds the UTF-8 bytes of `text` with ASCII letters in lowercase, or a marker if `text` is `nil`.
    package mutating func combine(lowercasedASCIIOf text: String?) {
        combine(text?.utf8.count)
        guard let text else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.utf8.count) { lowercased in
            _ = lowercased.initialize(from: text.utf8.lazy.map(\.lowercased))
            combine(bytes: UnsafeRawBufferPointer(lowercased))
        }
    }
}

// MARK: - Collections

/// Distinct values that are numbered consecutively in the order in which they were added.
public struct NumberedValues<Value: Hashable> {
    /// The values, indexed by their numbers.
    public private(set) var values: [Value] = []
    private var numbers: [Value: UInt32] = [:]

    /// Creates a list of the given values, which are numbered from 0.
    public init(_ values: Value...) {
        for value in values { _ = number(of: value) }
    }

    /// Returns the number of `value`.
    ///
    /// The value is added if it is new.
    public mutating func number(of value: Value) -> UInt32 {
        if let number = numbers[value] { return number }
        let number = UInt32(values.count)
        values.append(value)
        numbers[value] = number
        return number
    }

    /// Returns the number of `value`, or `nil` if the value is new and there are already `limit` values.
    ///
    /// The value is added if it is new and there are fewer than `limit` values.
    public mutating func number(of value: Value, limit: Int) -> UInt32? {
        guard values.count < limit else { return numbers[value] }
        return number(of: value)
    }

    /// Returns the value with the given number.
    public subscript(number: UInt32) -> Value { values[Int(number)] }
}

extension NumberedValues: Sendable where Value: Sendable {}
