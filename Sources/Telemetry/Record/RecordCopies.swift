import Bytes
import Hashing
import JSONText

/// A 32-byte key that identifies an upload.
///
/// Records with equal systems, types, ids and canonical payloads have equal keys, unless only one of them has
/// pseudonyms. A key is the same in each run. Different records have equal keys only with negligible probability.
///
/// Source: "The record", section "Copies".
public struct RecordKey: Sendable, Hashable, Comparable {
    /// The hash of the three values that servers use to recognize repeated uploads: the system, the type and the id.
    ///
    /// The hash of a record with pseudonyms also includes the id of their key.
    public let identity: Digest16
    /// The hash of the payload, or of the item keys if the upload is a part of a list.
    public let content: Digest16

    /// Creates a key from two hashes.
    public init(identity: Digest16, content: Digest16) {
        self.identity = identity
        self.content = content
    }

    /// Creates the key of a record.
    public init(_ record: borrowing Record) {
        // A record with pseudonyms cannot be uploaded, so it must not replace an equal record without pseudonyms.
        // Such a record is always held, so that the notes of other records are not searched.
        let keyID = record.held.isEmpty ? nil : record.pseudonymKeyID
        self.init(
            identity: Self.identity(system: record.system, type: record.type, id: record.id, pseudonymKeyID: keyID),
            content: Digest16(of: record.payload.span))
    }

    /// Returns the hash of a system, type and id, and of the id of the pseudonym key if the record has pseudonyms.
    public static func identity(
        system: SystemName, type: String, id: String, pseudonymKeyID: String? = nil
    ) -> Digest16 {
        var hash = SHA256()
        hash.update(lengthPrefixed: system.description.utf8.span)
        hash.update(lengthPrefixed: type.utf8.span)
        hash.update(lengthPrefixed: id.utf8.span)
        if let pseudonymKeyID { hash.update(lengthPrefixed: pseudonymKeyID.utf8.span) }
        return Digest16(hash)
    }

    /// Returns the hash of the system, the type and the events of a record of pending events, or `nil` if its payload
    /// contains no events.
    ///
    /// Unlike the id of the record, the hash does not include the client, which is borrowed. `document` parses the
    /// payload.
    static func identity(ofPendingEvents record: borrowing Record, using document: inout JSONDocument) -> Digest16? {
        guard (try? document.read(record.payload)) != nil else { return nil }
        defer { document.reset() }
        guard let events = document.value(of: "events", in: document.root) else { return nil }
        let id = UUIDText.ofPendingEvents(document.canonicalBytes(of: events), type: record.type, client: nil)
        return identity(system: record.system, type: record.type, id: id)
    }

    /// Returns whether `left` sorts before `right`, in an order that groups keys of the same identity.
    public static func < (left: RecordKey, right: RecordKey) -> Bool {
        (left.identity, left.content) < (right.identity, right.content)
    }
}

/// The rank of a copy of a record, which decides which of several copies is kept.
///
/// Records are copies if their keys are equal. They can differ in their holds, because holds also depend on what
/// surrounds a record in its capture. The copy with the lowest rank is kept:
///
/// 1. a copy with a final withdrawal, `forgotten` or `deletion-requested`
/// 2. a copy that was delivered
/// 3. a copy of a user who has switched off usage data
/// 4. a copy that is not held
/// 5. the copy with the fewest holds
///
/// Of copies of the same kind, the one with the fewest holds is kept, and of these the one whose holds come first in the
/// order of their UTF-8 bytes. The result therefore does not depend on the order of the copies. Copies with equal ranks
/// have equal holds, and the first one is kept.
///
/// Source: "The record", section "Copies".
public struct CopyRank: Sendable, Hashable {
    /// The number of the rule above that applies to the copy.
    private let rule: UInt8
    private let holdCount: UInt8
    /// The holds, separated by semicolons.
    @CapturedText public private(set) var text: String

    /// The rank of a copy that is not held.
    public static let notHeld = CopyRank([])

    /// Creates the rank of a copy with the given holds.
    public init(_ holds: [Hold]) {
        rule = holds.reduce(holds.isEmpty ? 4 : 5) { min($0, Self.rules[$1.code] ?? 5) }
        holdCount = UInt8(clamping: holds.count)
        text = holds.map(\.text).joined(separator: "; ")
    }

    private static let rules: [CapturedText: UInt8] = Dictionary(
        uniqueKeysWithValues: [(Hold.forgotten, 1), (.deletionRequested, 1), (.delivered, 2), (.optedOut, 3)].map {
            (CapturedText($0.0.code), $0.1)
        })

    /// The codes of holds because of which a copy is kept instead of a copy that is not held.
    public static let decisiveCodes = rules.keys.sortedStrings

    /// Whether the copy is kept instead of a copy that is not held.
    public var isDecisive: Bool { rule < 4 }

    /// Whether the copy was delivered, and is kept for this reason.
    public var isDelivered: Bool { rule == 2 }

    /// Whether a copy with fewer or other holds can exist, because the holds do not depend on the payload alone.
    ///
    /// For a single hold, the code determines whether it depends on the payload alone. A record with several holds can
    /// have a copy with one of them.
    public static func dependsOnSurroundings(_ holds: [Hold]) -> Bool {
        holds.count > 1 || holds.contains { !payloadCodes.contains($0.code) }
    }

    private static let payloadCodes = Set(
        [Hold.schema([]), .tooFewEvents, .tooManyEvents, .pendingEvents, .severalClients].map { CapturedText($0.code) })

    /// A number for the index of a bundle, which orders ranks like `<`, except that the order of ranks with the same
    /// rule and the same number of holds is arbitrary.
    ///
    /// Different ranks have different numbers, except with negligible probability.
    public var indexNumber: UInt64 {
        let hash = Digest16(of: text.utf8.span).high
        return UInt64(rule) << 56 | UInt64(holdCount) << 48 | hash >> 16
    }

    /// Returns whether a copy with the given ``indexNumber`` makes a copy of this rank superfluous.
    ///
    /// If it is unknown which of two copies is kept, the result is `false`, because a reader of both keeps the right
    /// one.
    public func isSuperseded(byCopyWith number: UInt64) -> Bool {
        let own = indexNumber
        return number == own || number >> 48 < own >> 48
    }
}

extension CopyRank: Comparable {
    /// Returns whether a copy of rank `left` is kept instead of a copy of rank `right`.
    public static func < (left: CopyRank, right: CopyRank) -> Bool {
        if (left.rule, left.holdCount) != (right.rule, right.holdCount) {
            return (left.rule, left.holdCount) < (right.rule, right.holdCount)
        }
        return left._text < right._text
    }
}

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
