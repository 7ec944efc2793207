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

    /// The payload and the number of the first record with an id.
    private struct First {
        let content: Digest16
        let number: UInt32
    }

    /// The first record with each id.
    private var firstRecords: [Digest16: First] = [:]
    /// The numbers of the records with a known id and another payload than the first.
    private var furtherNumbers: [RecordKey: UInt32] = [:]

    /// Creates an empty index.
    public init() {}

    /// The number of different records in the index.
    public var count: Int { firstRecords.count + furtherNumbers.count }

    /// Makes space for `count` records.
    ///
    /// The space is limited to a million records, because an input can state any number.
    /// Without reserved space, an index of a million records needs half as much memory again while it grows.
    public mutating func reserveCapacity(_ count: Int) { firstRecords.reserveCapacity(min(count, 1 << 20)) }

    /// Looks up a record, and adds it with its number if it is new.
    public mutating func insert(_ key: RecordKey, number: Int = 0) -> Finding {
        let number = UInt32(clamping: number)
        let added = First(content: key.content, number: number)
        guard let first = firstRecords.updateValue(added, forKey: key.identity) else { return .new }
        firstRecords[key.identity] = first
        guard first.content != key.content, furtherNumbers[key] == nil else { return .duplicate }
        furtherNumbers[key] = number
        return .sameIDOtherPayload
    }

    /// Returns the number with which a record was added, or `nil` if the index does not contain the record.
    public func number(of key: RecordKey) -> Int? {
        guard let first = firstRecords[key.identity] else { return nil }
        return first.content == key.content ? Int(first.number) : furtherNumbers[key].map { Int($0) }
    }
}

/// A record that was dropped because an equal record was kept.
///
/// It can be written as bytes, because the number of the kept record may only be known after all inputs were read.
public struct DroppedCopy: Sendable {
    /// The key of the kept record.
    public let key: RecordKey
    /// Whether the payloads of both records are equal.
    public let isPayloadEqual: Bool
    /// The record as canonical JSON, with its payload replaced by 0.
    public let envelope: [UInt8]

    /// Creates a copy from the line of a record, including the line feed, and the range of its payload.
    public init(key: RecordKey, isPayloadEqual: Bool = true, line: ArraySlice<UInt8>, payload: Range<Int>) {
        self.key = key
        self.isPayloadEqual = isPayloadEqual
        var envelope = Array(line[..<payload.lowerBound])
        envelope.append(UInt8(ascii: "0"))
        envelope += line[payload.upperBound..<line.endIndex - 1]
        self.envelope = envelope
    }

    /// The copy as bytes: the four numbers of the key, whether the payloads are equal, and the envelope.
    public var bytes: [UInt8] {
        let words = [key.identity.high, key.identity.low, key.content.high, key.content.low]
        return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
            + [isPayloadEqual ? 1 : 0] + envelope
    }

    /// Creates a copy from its bytes, or returns `nil` if there are too few.
    public init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count > 32 else { return nil }
        let words = (0..<4).map { word in
            bytes.dropFirst(8 * word).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        key = RecordKey(
            identity: Digest16(high: words[0], low: words[1]), content: Digest16(high: words[2], low: words[3]))
        isPayloadEqual = bytes[bytes.startIndex + 32] != 0
        envelope = Array(bytes.dropFirst(33))
    }
}
