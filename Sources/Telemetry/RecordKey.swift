import Crypto

/// What tells whether two records are the same upload, in 16 bytes.
///
/// Two records are duplicates only when system, type, id and canonical payload are all equal (design, section 2). Each
/// half is cut from a SHA-256 under a secret of the run, so that nobody can make two records that collide.
public struct RecordKey: Sendable, Hashable {
    /// Stands for system, type and id.
    public let identity: UInt64
    /// Stands for the payload.
    public let content: UInt64

    /// Makes a key from its halves.
    public init(identity: UInt64, content: UInt64) {
        self.identity = identity
        self.content = content
    }

    /// The key of a record.
    /// - Parameter secret: the same for all records of a run, unknown to those who made them.
    public init(_ record: borrowing Record, secret: [UInt8]) {
        var identity: [UInt8] = []
        identity.reserveCapacity(128)
        identity.append(contentsOf: secret)
        identity.append(contentsOf: record.system.rawValue.utf8)
        identity.append(0xFF)
        identity.append(contentsOf: record.type.utf8)
        identity.append(0xFF)
        identity.append(contentsOf: record.id.utf8)
        self.identity = SHA256.hash(data: identity).firstNumber
        var content = SHA256()
        content.update(data: secret)
        content.update(data: record.payload)
        self.content = content.finalize().firstNumber
    }
}

extension SHA256.Digest {
    /// The first eight bytes, big-endian.
    fileprivate var firstNumber: UInt64 {
        prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
