import Bytes
import Hashing

/// SHA-256 hashes of canonical bytes.
public enum PayloadHash {
    /// Returns an id that consists of `sha256:` and the hash of `payload`, for systems that define no id.
    public static func id(of payload: [UInt8]) -> String { "sha256:" + hex(of: payload) }

    /// Returns the hash in lowercase hexadecimal.
    public static func hex(of bytes: [UInt8]) -> String { ContentHash(of: bytes).hex }
}

/// Functions that create UUID strings.
public enum UUIDText {
    /// Returns the uppercase version 5 UUID of `name` in the URL namespace.
    ///
    /// Source: RFC 9562, section 5.5.
    public static func nameBased(_ name: String) -> String {
        text(of: Array(SHA1.hash(urlNamespace + name.utf8).prefix(16)), version: 5).uppercased()
    }

    /// Returns the 16 bytes in `bytes` as a lowercase UUID.
    ///
    /// The bits for the version and the variant are replaced.
    static func text(of bytes: [UInt8], version: UInt8) -> String {
        // The digits are written one by one for speed, because this runs for each pseudonym.
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (place, stored) in bytes.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { text.append(UInt8(ascii: "-")) }
            let byte =
                switch place {
                case 6: stored & 0x0F | version << 4
                case 8: stored & 0x3F | 0x80
                default: stored
                }
            text.append((byte >> 4).lowerHexadecimalDigit)
            text.append((byte & 0xF).lowerHexadecimalDigit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The URL namespace, 6ba7b811-9dad-11d1-80b4-00c04fd430c8.
    private static let urlNamespace: [UInt8] = [
        0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]
}

extension Span<UInt8> {
    /// Whether the bytes are a UUID of 8-4-4-4-12 hexadecimal digits in either case.
    public var isUUID: Bool {
        let dash = UInt8(ascii: "-")
        guard count == 36, self[8] == dash, self[13] == dash, self[18] == dash, self[23] == dash else { return false }
        // Counting the digits avoids a branch per byte.
        var digits: UInt8 = 0
        for index in 0..<36 {
            let byte = self[index]
            let isNumeral: UInt8 = byte &- UInt8(ascii: "0") < 10 ? 1 : 0
            let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 6 ? 1 : 0
            digits &+= isNumeral | isLetter
        }
        return digits == 32
    }
}

extension UUIDText {
    /// Returns an id for a record of pending events, derived from the events, the type and the client.
    ///
    /// This derivation is necessary because no format document defines an id for pending events.
    package static func ofPendingEvents(_ events: [UInt8], type: String, client: String?) -> String {
        nameBased("pingferry:pending:\(client ?? ""):\(type):\(PayloadHash.hex(of: events))")
    }
}

/// A counter that numbers the records with equal payloads of a type in a file.
///
/// The numbers distinguish the ids of the records, because equal payloads without an id and a time can be distinct
/// uploads.
public struct RepeatedPayloadCounter: Sendable {
    private let systems: Set<SystemName>
    private var counts: [Key: Int] = [:]

    private struct Key: Hashable {
        @CapturedText var type: String
        let payload: Digest16
    }

    /// Creates a counter for a request log with records of the given systems.
    public init(_ table: SystemTable) { systems = Set(table.all.filter(\.requests.payloadsRepeat).map(\.name)) }

    /// Creates a counter for a store of `system`.
    public init(_ system: SystemName) { systems = [system] }

    /// Appends a number to the id of `record` if the record has no time and its payload occurred before.
    public mutating func number(_ record: inout Record) {
        guard record.time == nil, systems.contains(record.system) else { return }
        let key = Key(type: record.type, payload: Digest16(of: record.payload.span))
        let count = counts[key, default: 0] + 1
        counts[key] = count
        if count > 1 { record.id += "#\(count)" }
    }
}
