/// The limits on the size and the expansion of an archive.
///
/// Real captures stay far below the limits. The limits keep a hostile archive from exhausting memory, disk space or
/// time.
public struct ArchiveLimits: Sendable {
    /// The maximum size of a wanted member, in bytes.
    public var memberSize = 4 << 30
    /// The maximum number of members, including folders that occur only in the paths of other members.
    public var memberCount = 5_000_000
    /// The maximum total size of the member names, in bytes.
    public var totalNameSize = 512 << 20
    /// The maximum ratio of unpacked to packed bytes, which applies beyond `uncheckedExpandedSize` unpacked bytes.
    public var expansionRatio = 1000
    /// The number of bytes to which any archive may expand, regardless of the ratio.
    ///
    /// The default is large, because apps may have large sparse files.
    public var uncheckedExpandedSize = 1 << 30

    /// Creates the default limits.
    public init() {}

    /// Returns whether expanding `archivedSize` bytes to `expandedSize` bytes exceeds the limits.
    func isOverExpanded(_ expandedSize: Int, from archivedSize: Int) -> Bool {
        expandedSize > uncheckedExpandedSize && expandedSize / expansionRatio >= max(archivedSize, 1)
    }
}
