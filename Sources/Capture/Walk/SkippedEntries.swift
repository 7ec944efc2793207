import Telemetry

/// The links and special files that are reported.
///
/// There may be millions of entries. Therefore, only the first entries in the order of their paths are kept, and the
/// other entries are counted. The result does not depend on the order in which entries are added.
struct SkippedEntries: Sendable {
    static let reportLimit = 10_000

    var reportedEntries: [SkippedEntry] {
        var sorted = keptEntries
        Self.sort(&sorted)
        return Array(sorted.prefix(Self.reportLimit))
    }
    var unreportedCount: Int { droppedCount + max(0, keptEntries.count - Self.reportLimit) }

    private var keptEntries: [SkippedEntry] = []
    private var droppedCount = 0

    mutating func add(_ found: SkippedEntry) {
        keptEntries.append(found)
        guard keptEntries.count >= 2 * Self.reportLimit else { return }
        Self.sort(&keptEntries)
        droppedCount += keptEntries.count - Self.reportLimit
        keptEntries.removeLast(keptEntries.count - Self.reportLimit)
    }

    mutating func add(_ others: SkippedEntries) {
        for found in others.keptEntries { add(found) }
        droppedCount += others.droppedCount
    }

    private static func sort(_ found: inout [SkippedEntry]) {
        found.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
