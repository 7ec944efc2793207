import Telemetry

/// The links and special files that are reported.
///
/// There may be millions. The first ones by their paths are kept, and the others are counted, independent of the order
/// in which they are added.
struct NotFiles: Sendable {
    /// The maximum number of links and special files that are reported individually.
    static let mostTold = 10_000

    var told: [NotFile] {
        var sorted = kept
        Self.sort(&sorted)
        return Array(sorted.prefix(Self.mostTold))
    }
    /// The number of entries beyond those in `told`.
    var left: Int { dropped + max(0, kept.count - Self.mostTold) }

    private var kept: [NotFile] = []
    private var dropped = 0

    mutating func add(_ found: NotFile) {
        kept.append(found)
        guard kept.count >= 2 * Self.mostTold else { return }
        Self.sort(&kept)
        dropped += kept.count - Self.mostTold
        kept.removeLast(kept.count - Self.mostTold)
    }

    mutating func add(_ others: NotFiles) {
        for found in others.kept { add(found) }
        dropped += others.dropped
    }

    private static func sort(_ found: inout [NotFile]) {
        found.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
