import Hashing

/// The limits on the quarantined bytes that a bundle stores.
///
/// Input beyond the limits is listed and reported, and the command ends with status 1.
///
/// Source: "Bundle", "Quarantine".
public struct QuarantineLimits: Sendable {
    /// The maximum size of one entry in bytes.
    public var fileLimit: Int
    /// The maximum size of all entries in bytes.
    public var totalLimit: Int
    /// The maximum number of distinct entries.
    public var countLimit: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - fileLimit: The maximum size of one entry in bytes.
    ///   - totalLimit: The maximum size of all entries in bytes.
    ///   - countLimit: The maximum number of distinct entries.
    public init(
        fileLimit: Int = 64 << 20, totalLimit: Int = 1 << 30, countLimit: Int = BundleLayout.maxQuarantinedMembers
    ) {
        self.fileLimit = fileLimit
        self.totalLimit = totalLimit
        self.countLimit = countLimit
    }

    /// The decision whether the bytes of an entry are stored.
    enum Verdict: UInt8, Sendable {
        case carried, tooLarge, tooMany
    }

    /// Returns the verdict on each entry, in order.
    ///
    /// Equal bytes are stored once and count once.
    func verdicts(on entries: [QuarantineSpill.StoredEntry]) -> [Verdict] {
        var total = 0
        var counted: Set<ContentHash> = []
        return entries.map { entry in
            if counted.contains(entry.sha256) { return .carried }
            // A bundle can state any size, including a negative one.
            guard (0...fileLimit).contains(entry.size), entry.size <= totalLimit - total else { return .tooLarge }
            guard counted.count < countLimit else { return .tooMany }
            total += entry.size
            counted.insert(entry.sha256)
            return .carried
        }
    }
}

/// The reason why quarantined bytes were not stored.
public enum QuarantineLoss: Sendable, Equatable {
    /// The bytes exceed a limit on sizes.
    case tooLarge
    /// The maximum number of entries is already stored.
    ///
    /// The value is that number.
    case tooMany(Int)
    /// The bytes have changed since they were first read.
    case changed
    /// The bytes could not be read again.
    ///
    /// The value is the reason.
    case unreadable(String)
}
