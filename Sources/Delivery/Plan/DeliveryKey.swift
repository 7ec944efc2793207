import Hashing
import Telemetry

/// The first 16 bytes of a SHA-256.
///
/// 16 bytes are enough: to find a second text for a given hash takes 2¹²⁸ tries. Two texts with one hash can be made with
/// 2⁶⁴ tries, but both are then the work of one author, who gains that one of his own records is taken for the other.
public struct Digest16: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(_ hash: SHA256) {
        (high, low) = hash.finalize().leadingWords
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Appends the 16 bytes.
    func append(to bytes: inout [UInt8]) {
        for word in [high, low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
    }
}

extension Digest16: Comparable {
    /// Whether the bytes of one hash sort before those of another.
    public static func < (left: Digest16, right: Digest16) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The key by which the ledger knows an upload: 16 bytes for what the server de-duplicates by, 16 for what is sent.
///
/// Source: "Delivery", "The ledger".
public struct DeliveryKey: Sendable, Hashable {
    /// Stands for system, type and id.
    public let identity: Digest16
    /// Stands for the payload; of a part of a list of events, for its items.
    public let content: Digest16

    init(identity: Digest16, content: Digest16) {
        self.identity = identity
        self.content = content
    }

    /// The key of a record that is sent as it is.
    public init(_ record: borrowing Record) {
        identity = Self.identity(system: record.system, type: record.type, id: record.id)
        var hash = SHA256()
        hash.update(record.payload.span)
        content = Digest16(hash)
    }

    /// The hash of system, type and id.
    public static func identity(system: SystemName, type: String, id: String) -> Digest16 {
        var hash = SHA256()
        for text in [system.description, type, id] { hash.update(lengthPrefixed: Array(text.utf8)[...]) }
        return Digest16(hash)
    }

    /// The key of an upload that carries some items of this record.
    func partKey(_ items: some Sequence<SentItem>) -> DeliveryKey {
        var bytes: [UInt8] = []
        for item in items { item.key.digest.append(to: &bytes) }
        var hash = SHA256()
        hash.update(bytes.span)
        return DeliveryKey(identity: identity, content: Digest16(hash))
    }
}

extension DeliveryKey: Comparable {
    /// Whether one key sorts before another: those with the same id stand together.
    public static func < (left: DeliveryKey, right: DeliveryKey) -> Bool {
        left.identity == right.identity ? left.content < right.content : left.identity < right.identity
    }
}

extension SHA256 {
    /// Adds bytes and how many they are, so that texts do not run together.
    mutating func update(lengthPrefixed bytes: ArraySlice<UInt8>) {
        let count = (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        update(count.span)
        update(bytes.span)
    }
}
