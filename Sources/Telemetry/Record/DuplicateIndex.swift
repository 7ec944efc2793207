import Hashing

/// An index of records that detects duplicates.
public struct DuplicateIndex: Sendable {
    /// The result of looking up a record.
    public enum Finding: Sendable {
        /// The id has not been seen.
        case new
        /// The id has been seen, but not with this payload.
        case sameIDOtherPayload
        /// The id has been seen with this payload.
        case duplicate
    }

    /// The hash of the first payload of each id.
    private var firstPayloads: [Digest16: Digest16] = [:]
    /// The keys of records with a known id and another payload than the first.
    private var furtherKeys: Set<RecordKey> = []

    /// Creates an empty index.
    public init() {}

    /// The number of different records in the index.
    public var count: Int { firstPayloads.count + furtherKeys.count }

    /// Makes space for `count` records.
    ///
    /// The space is limited to a million records, because an input can state any number.
    /// Without reserved space, an index of a million records needs half as much memory again while it grows.
    public mutating func reserveCapacity(_ count: Int) { firstPayloads.reserveCapacity(min(count, 1 << 20)) }

    /// Looks up a record, and adds it if it is new.
    public mutating func insert(_ key: RecordKey) -> Finding {
        guard let first = firstPayloads.updateValue(key.content, forKey: key.identity) else { return .new }
        guard first != key.content else { return .duplicate }
        firstPayloads[key.identity] = first
        return furtherKeys.insert(key).inserted ? .sameIDOtherPayload : .duplicate
    }
}
