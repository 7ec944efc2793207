/// The limits on the size and the expansion of an archive.
///
/// They are far above the needs of real captures. They keep a hostile archive from exhausting memory, disk or time.
public struct ArchiveLimits: Sendable {
    /// The maximum size of a wanted member, in bytes.
    public var memberSize = 4 << 30
    /// The maximum number of members, including folders that occur only in paths.
    public var members = 5_000_000
    /// The maximum total size of the member names, in bytes.
    public var nameBytes = 512 << 20
    /// The maximum ratio of unpacked to packed bytes.
    ///
    /// It applies once more than `freeExpansion` bytes were unpacked.
    public var expansion = 1000
    /// The number of bytes that any archive may unpack to, because sparse files of other apps are legitimate.
    public var freeExpansion = 1 << 30

    /// Creates the default limits.
    public init() {}

    /// Returns whether `archived` bytes must not expand to `count` bytes.
    func isOverExpanded(_ count: Int, from archived: Int) -> Bool {
        count > freeExpansion && count / expansion >= max(archived, 1)
    }
}
