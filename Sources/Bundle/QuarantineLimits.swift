import Hashing

/// The limits on the quarantined bytes that a bundle stores.
///
/// Bytes beyond the limits are not stored. Their entries are listed and reported, and the command exits with status 1.
///
/// Source: "Bundle", "Quarantine".
public struct QuarantineLimits: Sendable {
    /// The maximum size, in bytes, of the quarantined bytes of one entry.
    public var entrySizeLimit: Int
    /// The maximum total size, in bytes, of the stored quarantined bytes.
    public var totalSizeLimit: Int
    /// The maximum number of distinct byte sequences that are stored.
    public var entryCountLimit: Int

    /// Creates limits.
    public init(
        entrySizeLimit: Int = 64 << 20, totalSizeLimit: Int = 1 << 30,
        entryCountLimit: Int = BundleLayout.maxQuarantinedMembers
    ) {
        self.entrySizeLimit = entrySizeLimit
        self.totalSizeLimit = totalSizeLimit
        self.entryCountLimit = entryCountLimit
    }

    /// The decision whether the bytes of an entry are stored.
    enum Verdict: UInt8, Sendable {
        case stored, tooLarge, tooMany
    }

    /// Returns the verdict on each entry.
    ///
    /// Equal bytes are stored and counted only once.
    func verdicts(on entries: [QuarantineSpill.StoredEntry]) -> [Verdict] {
        var total = 0
        var counted: Set<ContentHash> = []
        return entries.map { entry in
            if counted.contains(entry.sha256) { return .stored }
            // The size can be negative, because it is read from a bundle without being checked.
            guard (0...entrySizeLimit).contains(entry.size), entry.size <= totalSizeLimit - total else {
                return .tooLarge
            }
            guard counted.count < entryCountLimit else { return .tooMany }
            total += entry.size
            counted.insert(entry.sha256)
            return .stored
        }
    }
}

/// The reason why quarantined bytes were not stored.
public enum QuarantineLoss: Sendable, Equatable {
    /// The bytes exceed a size limit.
    case tooLarge
    /// The bundle already stores the given maximum number of distinct byte sequences.
    case tooMany(Int)
    /// The bytes have changed since they were first read.
    case changed
    /// The bytes could not be read from the input for the given reason.
    case unreadable(String)
}
