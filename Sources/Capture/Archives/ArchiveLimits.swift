/// How much an archive may hold and expand to. They are far beyond what phones hold, and keep a hostile archive from
/// filling memory, the disk, or the day.
public struct ArchiveLimits: Sendable {
    /// The most bytes of a member that is wanted.
    public var memberSize = 4 << 30
    /// The most members, folders that only paths name among them.
    public var members = 5_000_000
    /// The most bytes of their names, all told.
    public var nameBytes = 512 << 20
    /// The most bytes that one byte of the archive may stand for, once more than `freeExpansion` bytes came out.
    public var expansion = 1000
    /// How many bytes any archive may unpack to, however small it is: a sparse file of some other app is no attack.
    public var freeExpansion = 1 << 30

    /// The limits that the commands have.
    public init() {}

    func isOverExpanded(_ count: Int, from archived: Int) -> Bool {
        count > freeExpansion && count / expansion >= max(archived, 1)
    }
}
