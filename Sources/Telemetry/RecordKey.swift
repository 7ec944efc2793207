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
        var name: [UInt8] = []
        name.reserveCapacity(128)
        name.append(contentsOf: secret)
        name.append(contentsOf: record.system.rawValue.utf8)
        name.append(0xFF)
        name.append(contentsOf: record.type.utf8)
        name.append(0xFF)
        name.append(contentsOf: record.id.utf8)
        identity = SHA256.hash(data: name).firstNumber
        var content = SHA256()
        content.update(data: secret)
        content.update(data: record.payload)
        self.content = content.finalize().firstNumber
    }
}

extension SHA256.Digest {
    /// The first eight bytes, big-endian.
    fileprivate var firstNumber: UInt64 {
        var number: UInt64 = 0
        for byte in self.prefix(8) { number = number << 8 | UInt64(byte) }
        return number
    }
}
