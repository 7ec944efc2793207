import Hashing

/// How much of what could not be understood is carried along.
///
/// Source: "Bundle", "Quarantine". What is beyond the limits is reported, and the command ends with status 1.
public struct QuarantineLimits: Sendable {
    /// The most bytes of one entry.
    public var fileLimit: Int
    /// The most bytes in all.
    public var totalLimit: Int
    /// The most different entries.
    public var countLimit: Int

    /// Makes limits.
    public init(
        fileLimit: Int = 64 << 20, totalLimit: Int = 1 << 30, countLimit: Int = BundleLayout.maxQuarantinedMembers
    ) {
        self.fileLimit = fileLimit
        self.totalLimit = totalLimit
        self.countLimit = countLimit
    }

    /// Whether the bytes of an entry are carried along, and if not, why.
    enum Verdict: UInt8, Sendable {
        case carried, tooLarge, tooMany
    }

    /// What becomes of each entry, in their order. Equal bytes are carried once and count once.
    func verdicts(on entries: [QuarantineSpill.StoredEntry]) -> [Verdict] {
        var total = 0
        var counted: Set<ContentHash> = []
        return entries.map { entry in
            if counted.contains(entry.sha256) { return .carried }
            // A size from a bundle may be any number.
            guard (0...fileLimit).contains(entry.size), entry.size <= totalLimit - total else { return .tooLarge }
            guard counted.count < countLimit else { return .tooMany }
            total += entry.size
            counted.insert(entry.sha256)
            return .carried
        }
    }
}

/// Why bytes for the quarantine were not carried along.
public enum QuarantineLoss: Sendable, Equatable {
    /// They exceed a limit of sizes.
    case tooLarge
    /// This number of others are carried along already, which is the most.
    case tooMany(Int)
    /// They were no longer what they had been.
    case changed
    /// They could not be read again. The string is the reason.
    case unreadable(String)
}
