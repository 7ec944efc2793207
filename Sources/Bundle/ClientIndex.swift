import Bytes
import Telemetry

/// A list of distinct clients, which are numbered consecutively in the order in which they were added.
///
/// Client IDs that differ only in the case of ASCII letters are the same client. Records of a system without a client
/// belong to a client without an ID. A client uses about 60 bytes of memory.
public struct ClientIndex: Sendable {
    private struct Entry {
        /// The index of the chunk that contains the client ID.
        let chunkIndex: UInt32
        /// The index of the first byte of the client ID in the chunk.
        let idStart: UInt32
        /// The length of the client ID in bytes, or no value for records without a client.
        let idLength: OptionalUInt32
        /// The number of the system in `systems`.
        let systemNumber: UInt32

        /// The range of the client ID in its chunk, which is empty for records without a client.
        var idRange: Range<Int> { Int(idStart)..<Int(idStart) + Int(idLength.value ?? 0) }
    }

    private var systems = NumberedValues<SystemName>()
    private var entries = ChunkedArray<Entry>()
    /// The client IDs, one after another.
    private var idChunks: [[UInt8]] = []
    /// The numbers of the clients, stored in an open-addressing hash table with a power of two as its size.
    private var slots = [OptionalUInt32](repeating: OptionalUInt32(nil), count: 64)
    /// The client that was looked up last, and its number.
    ///
    /// The client is cached because the next record usually has the same client.
    private var lastClient: (system: SystemName, client: String?, number: Int)?

    /// The maximum size, in bytes, of a chunk that contains more than one client ID.
    private static let chunkSize = 1 << 16

    /// The number of clients.
    public var count: Int { entries.count }

    /// Creates an empty list.
    public init() {}

    /// Returns the number of the client with the ID `client` in `system`.
    ///
    /// The client is added if it is new. `client` is `nil` for records without a client.
    public mutating func number(of client: String?, system: SystemName) -> Int {
        if let lastClient, lastClient.system == system, Self.haveEqualBytes(lastClient.client, client) {
            return lastClient.number
        }
        var client = client
        let number = client.withUTF8OrNil { id in
            let systemNumber = systems.number(of: system)
            let slot = slot(of: id, systemNumber)
            if let known = slots[slot].value { return Int(known) }
            slots[slot] = OptionalUInt32(UInt32(entries.count))
            append(id, systemNumber)
            if 4 * entries.count > 3 * slots.count { doubleSlots() }
            return entries.count - 1
        }
        lastClient = (system, client, number)
        return number
    }

    /// Returns the number of the client with the ID `client` in `system`, or `nil` if the client was not added.
    public func existingNumber(of client: String?, system: SystemName) -> Int? {
        guard let systemNumber = systems.values.firstIndex(of: system) else { return nil }
        var client = client
        return client.withUTF8OrNil { id in slots[slot(of: id, UInt32(systemNumber))].value.map(Int.init) }
    }

    private static func haveEqualBytes(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.span.equals(other.utf8.span)
    }

    private mutating func append(_ id: UnsafeBufferPointer<UInt8>?, _ systemNumber: UInt32) {
        let id = id.map { $0.prefix(Int(Int32.max)) }
        if idChunks.last.map({ $0.count + (id?.count ?? 0) > Self.chunkSize }) ?? true {
            idChunks.append([])
            idChunks[idChunks.count - 1].reserveCapacity(Self.chunkSize)
        }
        let chunk = idChunks.count - 1
        entries.append(
            Entry(
                chunkIndex: UInt32(chunk), idStart: UInt32(idChunks[chunk].count),
                idLength: OptionalUInt32(id.map { UInt32($0.count) }), systemNumber: systemNumber))
        if let id { idChunks[chunk] += id }
    }

    // MARK: Hash table

    /// Returns the slot that contains a client, or the free slot to use for the client if it is new.
    private func slot(of id: UnsafeBufferPointer<UInt8>?, _ systemNumber: UInt32) -> Int {
        var slot = Self.hash(id, systemNumber) & (slots.count - 1)
        while let number = slots[slot].value, !isEqual(entries[Int(number)], id, systemNumber) {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    /// Returns a hash of a client, which does not depend on the case of ASCII letters in the client ID.
    ///
    /// `Hasher` uses a random seed in each run, so that no input can be crafted to cause many hash collisions.
    private static func hash(_ id: UnsafeBufferPointer<UInt8>?, _ systemNumber: UInt32) -> Int {
        var hasher = Hasher()
        hasher.combine(systemNumber)
        hasher.combine(lowercasedASCIIOf: id)
        return hasher.finalize()
    }

    private func isEqual(_ entry: Entry, _ id: UnsafeBufferPointer<UInt8>?, _ systemNumber: UInt32) -> Bool {
        guard entry.systemNumber == systemNumber else { return false }
        guard let id, let length = entry.idLength.value else { return id == nil && entry.idLength.value == nil }
        let chunk = idChunks[Int(entry.chunkIndex)]
        let start = Int(entry.idStart)
        return length == id.count && id.indices.allSatisfy { chunk[start + $0].lowercased == id[$0].lowercased }
    }

    private mutating func doubleSlots() {
        slots = [OptionalUInt32](repeating: OptionalUInt32(nil), count: 2 * slots.count)
        for number in 0..<entries.count {
            let entry = entries[number]
            var slot = idChunks[Int(entry.chunkIndex)].withUnsafeBufferPointer { chunk in
                let id = UnsafeBufferPointer(rebasing: chunk[entry.idRange])
                return Self.hash(entry.idLength.value == nil ? nil : id, entry.systemNumber) & (slots.count - 1)
            }
            while slots[slot].value != nil { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = OptionalUInt32(UInt32(number))
        }
    }

    // MARK: Clients

    /// Returns the system of the client with the number `number`.
    public func system(ofClient number: Int) -> SystemName { systems[entries[number].systemNumber] }

    /// Returns the ID of the client `number` as it was first added, or `nil` for records without a client.
    public func id(ofClient number: Int) -> String? {
        entries[number].idLength.value == nil ? nil : String(decoding: idBytes(ofClient: number), as: UTF8.self)
    }

    /// Returns the bytes of the ID of the client `number` as first added, or no bytes for records without a client.
    public func idBytes(ofClient number: Int) -> ArraySlice<UInt8> {
        let entry = entries[number]
        return idChunks[Int(entry.chunkIndex)][entry.idRange]
    }
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
        let (first, second) = (one.idRange, other.idRange)
        let (chunk, otherChunk) = (idChunks[Int(one.chunkIndex)], idChunks[Int(other.chunkIndex)])
        for (index, otherIndex) in zip(first, second) {
            let (byte, against) = (chunk[index].lowercased, otherChunk[otherIndex].lowercased)
            if byte != against { return byte < against }
        }
        return first.count == second.count ? nil : first.count < second.count
    }
}

extension Optional<String> {
    /// Calls `body` with the UTF-8 bytes of the string, or with `nil` if there is no string.
    fileprivate mutating func withUTF8OrNil<Result>(_ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result {
        guard var text = self else { return body(nil) }
        return text.withUTF8(body)
    }
}

extension Hasher {
    /// Adds the UTF-8 bytes of `text` with ASCII letters in lowercase, or a marker if `text` is `nil`.
    package mutating func combine(lowercasedASCIIOf text: String?) {
        guard var text else { return combine(lowercasedASCIIOf: nil as UnsafeBufferPointer<UInt8>?) }
        text.withUTF8 { combine(lowercasedASCIIOf: $0) }
    }

    fileprivate mutating func combine(lowercasedASCIIOf bytes: UnsafeBufferPointer<UInt8>?) {
        combine(bytes?.count)
        guard let bytes else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { lowercased in
            _ = lowercased.initialize(from: bytes.lazy.map(\.lowercased))
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

/// An array that stores its elements in chunks of equal size, so that growth never copies more than one chunk.
public struct ChunkedArray<Element: Sendable>: Sendable {
    static var chunkSize: Int { 1 << 14 }
    var chunks: [[Element]] = []
    var elementCount = 0
    /// The number of elements.
    public var count: Int { elementCount }

    /// Creates an empty array.
    public init() {}

    /// Accesses the element at `index`.
    public subscript(index: Int) -> Element {
        get { chunks[index / Self.chunkSize][index % Self.chunkSize] }
        _modify { yield &chunks[index / Self.chunkSize][index % Self.chunkSize] }
    }

    /// Appends an element.
    public mutating func append(_ element: Element) {
        if elementCount % Self.chunkSize == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        elementCount += 1
    }

    /// Removes all elements whose index is at least `start`.
    public mutating func removeAll(from start: Int) {
        guard start < elementCount else { return }
        chunks.removeSubrange((start + Self.chunkSize - 1) / Self.chunkSize..<chunks.count)
        if start % Self.chunkSize > 0 { chunks[chunks.count - 1].removeSubrange((start % Self.chunkSize)...) }
        elementCount = start
    }
}

extension ChunkedArray: RandomAccessCollection {
    /// The index of the first element.
    public var startIndex: Int { 0 }
    /// The index after the last element.
    public var endIndex: Int { elementCount }
}
