import Bytes
import Hashing
import JSONText

/// A 16-byte key that identifies an upload.
///
/// Records with equal systems, types, ids and canonical payloads have equal keys. Different records have equal keys
/// only with negligible probability.
///
/// Source: "The record", section "Copies".
public struct RecordKey: Sendable, Hashable {
    /// The hash of system, type and id.
    public let identity: UInt64
    /// The hash of the payload.
    public let content: UInt64

    /// Creates a key from two hashes.
    public init(identity: UInt64, content: UInt64) {
        self.identity = identity
        self.content = content
    }

    /// Creates the key of an item that is not a record, such as a request in a list.
    package init(identity: Span<UInt8>, content: Span<UInt8>, secret: RunSecret) {
        self.identity = KeyedHash.value(of: identity, under: secret.identity)
        self.content = KeyedHash.value(of: content, under: secret.content)
    }

    /// Creates the key of a string, which is hashed both as the identity and as the content.
    public init(text: [UInt8], secret: RunSecret) {
        self.init(identity: text.span, content: text.span, secret: secret)
    }

    /// Creates the key of a record from keyed hashes.
    ///
    /// `secret` prevents forged records from causing collisions.
    public init(_ record: borrowing Record, secret: RunSecret) {
        var identity = KeyedHash(secret.identity)
        identity.add(record.system.description.utf8.span)
        identity.add(record.type.utf8.span)
        identity.add(record.id.utf8.span)
        self.identity = identity.value
        content = KeyedHash.value(of: record.payload.span, under: secret.content)
    }
}

/// The random keys with which records are hashed during one run.
public struct RunSecret: Sendable {
    let identity: KeyedHash.Key
    let content: KeyedHash.Key

    /// Creates a secret from two numbers, for tests.
    public init(identity: UInt64, content: UInt64) {
        self.identity = KeyedHash.Key(identity % KeyedHash.prime)
        self.content = KeyedHash.Key(content % KeyedHash.prime)
    }

    /// Creates a random secret.
    public init(using generator: inout some RandomNumberGenerator) {
        identity = KeyedHash.Key(UInt64.random(in: 1..<KeyedHash.prime, using: &generator))
        content = KeyedHash.Key(UInt64.random(in: 1..<KeyedHash.prime, using: &generator))
    }
}

/// A keyed hash for which collisions cannot be found without the key.
///
/// This is the polynomial hash of Carter and Wegman. Each group of seven bytes is a coefficient of a polynomial, which
/// is evaluated at the key, modulo the prime 2⁶¹ − 1. Two different strings of n bytes have the same hash for at most n
/// / 7 + 2 of the 2⁶¹ − 2 keys, because the difference of their polynomials has at most that many roots.
struct KeyedHash {
    static let prime: UInt64 = 1 << 61 - 1
    /// A mask for the first seven bytes of a word.
    ///
    /// The value of seven bytes is less than the prime.
    private static let sevenBytes: UInt64 = 0x00FF_FFFF_FFFF_FFFF

    /// The point at which the polynomial is evaluated, and its second to fourth powers.
    ///
    /// The powers allow four coefficients to be added in one step. This is faster, because each step must wait for the
    /// previous step.
    struct Key: Sendable {
        fileprivate let first: UInt64
        fileprivate let second: UInt64
        fileprivate let third: UInt64
        fileprivate let fourth: UInt64

        /// Creates a key from a random number in `1..<prime`.
        init(_ number: UInt64) {
            first = number
            second = KeyedHash.reduce(number.multipliedFullWidth(by: number))
            third = KeyedHash.reduce(second.multipliedFullWidth(by: number))
            fourth = KeyedHash.reduce(third.multipliedFullWidth(by: number))
        }
    }

    private let key: Key
    private var state: UInt64 = 0

    /// The hash of the added strings.
    ///
    /// The hash is stored in the upper 61 bits because hash tables use the upper bits.
    var value: UInt64 { (state >= Self.prime ? state - Self.prime : state) << 3 }

    init(_ key: Key) { self.key = key }

    /// Returns the hash of one string.
    static func value(of text: Span<UInt8>, under key: Key) -> UInt64 {
        var hash = KeyedHash(key)
        hash.add(text)
        return hash.value
    }

    /// Adds a string and its length.
    ///
    /// The length prevents different sequences of strings from having the same hash.
    mutating func add(_ text: Span<UInt8>) {
        var index = 0
        while text.count - index >= 29 {
            let (first, second) = (text.word(at: index), text.word(at: index + 7))
            let (third, fourth) = (text.word(at: index + 14), text.word(at: index + 21))
            add(first & Self.sevenBytes, second & Self.sevenBytes, third & Self.sevenBytes, fourth & Self.sevenBytes)
            index += 28
        }
        while text.count - index >= 8 {
            add(text.word(at: index) & Self.sevenBytes)
            index += 7
        }
        var rest: UInt64 = 0
        var shift: UInt64 = 0
        while index < text.count {
            if shift == 56 {
                add(rest)
                (rest, shift) = (0, 0)
            }
            rest |= UInt64(text[index]) << shift
            shift += 8
            index += 1
        }
        add(rest)
        add(UInt64(text.count))
    }

    private mutating func add(_ coefficient: UInt64) {
        state = Self.reduce((state &+ coefficient).multipliedFullWidth(by: key.first))
    }

    private mutating func add(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        // Each product is less than 2¹²³, so no sum overflows.
        let sum =
            UInt128(state &+ first) &* UInt128(key.fourth) &+ UInt128(second) &* UInt128(key.third)
            &+ UInt128(third) &* UInt128(key.second) &+ UInt128(fourth) &* UInt128(key.first)
        state = Self.reduce((UInt64(truncatingIfNeeded: sum >> 64), UInt64(truncatingIfNeeded: sum)))
    }

    /// Reduces a number less than 2¹²⁴ modulo the prime.
    ///
    /// The result can slightly exceed the prime.
    private static func reduce(_ number: (high: UInt64, low: UInt64)) -> UInt64 {
        let folded = (number.high << 3 | number.low >> 61) &+ (number.low & prime)
        return (folded & prime) &+ folded >> 61
    }
}

/// A 32-byte key that identifies a record in the index of a bundle, or a line of `quarantine.ndjson` or
/// `problems.ndjson`.
///
/// Unlike a ``RecordKey``, an index key is the same in each run. Finding two payloads of one ID with equal keys
/// requires about 2⁶⁴ attempts.
///
/// Source: "Increments", section "The index".
public struct IndexKey: Sendable, Hashable, Comparable {
    /// The first 8 bytes of the SHA-256 hash of system, type, ID and the ID of the pseudonym key, if there is one.
    public let identity: UInt64
    /// The first 8 bytes of the SHA-256 hash of the payload.
    public let contentHigh: UInt64
    /// The next 8 bytes of the SHA-256 hash of the payload.
    public let contentLow: UInt64
    /// The value of ``CopyRank/indexNumber`` for the copy of the record, or 0 for a line of details.
    ///
    /// Keys with different ranks identify copies of the same record.
    public let rank: UInt64

    /// Creates a key from its words.
    public init(identity: UInt64, contentHigh: UInt64, contentLow: UInt64, rank: UInt64) {
        self.identity = identity
        self.contentHigh = contentHigh
        self.contentLow = contentLow
        self.rank = rank
    }

    /// Creates the key of a record.
    public init(_ record: borrowing Record) {
        var hash = SHA256()
        // A record with pseudonyms cannot be uploaded, so it must not replace an equal record without pseudonyms.
        let keyIDs = record.pseudonymKeyID.map { [$0] } ?? []
        for text in [record.system.description, record.type, record.id] + keyIDs {
            // The length separates the strings, which can contain any character.
            hash.update("\(text.utf8.count):".utf8.span)
            hash.update(text.utf8.span)
        }
        self.init(
            identity: hash.finalize(), content: SHA256.hash(record.payload.span),
            rank: record.held.isEmpty ? CopyRank.notHeldIndexNumber : CopyRank(record.held).indexNumber)
    }

    /// Creates the key of a line of `quarantine.ndjson` or `problems.ndjson`, without its line feed.
    public init(line: [UInt8]) {
        let hash = ContentHash(of: line)
        self.init(identity: hash, content: hash, rank: 0)
    }

    private init(identity: ContentHash, content: ContentHash, rank: UInt64) {
        self.rank = rank
        self.identity = identity.leadingWords.high
        (contentHigh, contentLow) = content.leadingWords
    }

    /// Returns whether `left` sorts before `right`.
    public static func < (left: IndexKey, right: IndexKey) -> Bool {
        (left.identity, left.contentHigh, left.contentLow, left.rank)
            < (right.identity, right.contentHigh, right.contentLow, right.rank)
    }

    /// Returns whether the copy with this key makes a copy with the key `other` superfluous.
    ///
    /// If it is unknown which of two copies is kept, the result is `false`, because a reader of both keeps the right
    /// one.
    public func supersedes(_ other: IndexKey) -> Bool { rank == other.rank || rank >> 48 < other.rank >> 48 }

    /// Returns whether the keys identify copies of the same record.
    public func identifiesCopy(of other: IndexKey) -> Bool {
        (identity, contentHigh, contentLow) == (other.identity, other.contentHigh, other.contentLow)
    }
}
