import Hashing
import Telemetry

/// The first 16 bytes of a SHA-256 hash.
///
/// Finding an input with a given hash takes 2¹²⁸ attempts. Finding two inputs with the same hash takes 2⁶⁴ attempts,
/// but only the author of both inputs can do so, and only these two records would then be confused.
public struct Digest16: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(_ hash: SHA256) { (high, low) = hash.finalize().leadingWords }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    func append(to bytes: inout [UInt8]) {
        for word in [high, low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
    }
}

extension Digest16: Comparable {
    /// Returns whether the bytes of `left` sort before the bytes of `right`.
    public static func < (left: Digest16, right: Digest16) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// The key that identifies an upload in the ledger.
///
/// Source: "Delivery", "The ledger".
public struct DeliveryKey: Sendable, Hashable {
    /// The hash of the three values that servers use to recognize repeated uploads: the system, the type and the id.
    public let identity: Digest16
    /// The hash of the payload, or of the item keys if the upload is a part of a list.
    public let content: Digest16

    init(identity: Digest16, content: Digest16) {
        self.identity = identity
        self.content = content
    }

    /// Creates the key of a record that is sent as a whole.
    public init(_ record: borrowing Record) {
        identity = Self.identity(system: record.system, type: record.type, id: record.id)
        var hash = SHA256()
        hash.update(record.payload.span)
        content = Digest16(hash)
    }

    /// Returns the hash of a system, type and id.
    public static func identity(system: SystemName, type: String, id: String) -> Digest16 {
        var hash = SHA256()
        for text in [system.description, type, id] { hash.update(lengthPrefixed: Array(text.utf8)[...]) }
        return Digest16(hash)
    }

    /// Returns the key of an upload that contains only `items` of this record.
    func partKey(for items: some Sequence<SentItem>) -> DeliveryKey {
        var bytes: [UInt8] = []
        for item in items { item.key.digest.append(to: &bytes) }
        var hash = SHA256()
        hash.update(bytes.span)
        return DeliveryKey(identity: identity, content: Digest16(hash))
    }
}

extension DeliveryKey: Comparable {
    /// Returns whether `left` sorts before `right`, in an order that groups keys of the same identity.
    public static func < (left: DeliveryKey, right: DeliveryKey) -> Bool {
        left.identity == right.identity ? left.content < right.content : left.identity < right.identity
    }
}

extension SHA256 {
    /// Hashes the length of `bytes` and then `bytes`, so that the boundaries of consecutive strings are unambiguous.
    mutating func update(lengthPrefixed bytes: ArraySlice<UInt8>) {
        let count = (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
        update(count.span)
        update(bytes.span)
    }
}
