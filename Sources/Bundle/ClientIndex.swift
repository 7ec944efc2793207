import Bytes
import Telemetry

/// A list of distinct clients, which are numbered consecutively in the order in which they were added.
///
/// Client IDs that differ only in the case of ASCII letters are the same client. Records of a system without a client
/// belong to a client without an ID. A client uses about 100 bytes of memory.
public struct ClientIndex: Sendable {
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
            hasher.combine(lowercasedASCIIOf: client)
            let prefix = hasher
            hasher.combine(true)
            firstHalf = prefix.finalize()
            secondHalf = hasher.finalize()
        }
    }

    private struct Entry {
        /// The index, in `idBytes`, of the first byte of the client ID.
        let idStart: Int
        /// The length of the client ID in bytes, or no value for records without a client.
        let idLength: OptionalUInt32
        /// The number of the system in `systems`.
        let systemNumber: UInt32
    }

    private var systems = NumberedValues<SystemName>()
    private var entries = ChunkedArray<Entry>()
    /// The client IDs, one after another.
    private var idBytes: [UInt8] = []
    private var numbers: [ClientKey: UInt32] = [:]
    /// The client that was looked up last, and its number.
    ///
    /// The next record usually has the same client.
    private var lastClient: (system: SystemName, client: String?, number: Int)?

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Returns the number of a client.
    ///
    /// Adds the client if it is new.
    public mutating func number(of client: String?, system: SystemName) -> Int {
        if let lastClient, lastClient.system == system, Self.haveEqualBytes(lastClient.client, client) {
            return lastClient.number
        }
        let key = ClientKey(system, client)
        let number: Int
        if let known = numbers[key] {
            number = Int(known)
        } else {
            number = entries.count
            numbers[key] = UInt32(number)
            append(client, system)
        }
        lastClient = (system, client, number)
        return number
    }

    private static func haveEqualBytes(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.span.equals(other.utf8.span)
    }

    private mutating func append(_ client: String?, _ system: SystemName) {
        let id = client?.utf8.prefix(Int(Int32.max))
        entries.append(
            Entry(
                idStart: idBytes.count, idLength: OptionalUInt32(id.map { UInt32($0.count) }),
                systemNumber: systems.number(of: system)))
        if let id { idBytes += id }
    }

    /// Returns the system of a client.
    public func system(ofClient number: Int) -> SystemName { systems[entries[number].systemNumber] }

    /// Returns the ID of a client as it was first added, or `nil` for records without a client.
    public func id(ofClient number: Int) -> String? {
        let entry = entries[number]
        return entry.idLength.value == nil ? nil : String(decoding: idBytes[idRange(of: entry)], as: UTF8.self)
    }

    /// Returns the range of the client ID in `idBytes`.
    ///
    /// The range is empty for records without a client.
    private func idRange(of entry: Entry) -> Range<Int> {
        entry.idStart..<entry.idStart + Int(entry.idLength.value ?? 0)
    }
}

// MARK: - Order

extension ClientIndex {
    /// The numbers of all clients, sorted by system and client ID.
    public var sortedNumbers: [UInt32] {
        (0..<UInt32(entries.count)).sorted { left, right in
            let (one, other) = (entries[Int(left)], entries[Int(right)])
            guard one.systemNumber == other.systemNumber else {
                return systems[one.systemNumber] < systems[other.systemNumber]
            }
            return isBefore(one, other) ?? (left < right)
        }
    }

    /// Returns whether the ID of the first client sorts before that of the second, or `nil` if the IDs are equal.
    private func isBefore(_ one: Entry, _ other: Entry) -> Bool? {
        let (first, second) = (idRange(of: one), idRange(of: other))
        for (index, otherIndex) in zip(first, second) {
            let (byte, against) = (idBytes[index].lowercased, idBytes[otherIndex].lowercased)
            if byte != against { return byte < against }
        }
        return first.count == second.count ? nil : first.count < second.count
    }
}

extension Hasher {
    /// Adds a string or `nil`, with ASCII letters in lowercase.
    package mutating func combine(lowercasedASCIIOf text: String?) {
        combine(text?.utf8.count)
        guard let text else { return }
        let bytes = text.utf8.map(\.lowercased)
        bytes.withUnsafeBytes { combine(bytes: $0) }
    }
}
