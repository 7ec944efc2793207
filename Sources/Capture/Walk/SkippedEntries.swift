import Telemetry

/// The links and special files that are reported.
///
/// Because there may be millions, only the first ones in the order of their paths are kept, and the others are counted.
/// The result does not depend on the order in which they are added.
struct SkippedEntries: Sendable {
    static let reportLimit = 10_000

    var reported: [SkippedEntry] {
        var sorted = kept
        Self.sort(&sorted)
        return Array(sorted.prefix(Self.reportLimit))
    }
    var unreportedCount: Int { dropped + max(0, kept.count - Self.reportLimit) }

    private var kept: [SkippedEntry] = []
    private var dropped = 0

    mutating func add(_ found: SkippedEntry) {
        kept.append(found)
        guard kept.count >= 2 * Self.reportLimit else { return }
        Self.sort(&kept)
        dropped += kept.count - Self.reportLimit
        kept.removeLast(kept.count - Self.reportLimit)
    }

    mutating func add(_ others: SkippedEntries) {
        for found in others.kept { add(found) }
        dropped += others.dropped
    }

    private static func sort(_ found: inout [SkippedEntry]) {
        found.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
