import Hashing

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
