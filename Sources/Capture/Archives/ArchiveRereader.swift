import Files

/// Reads an archive again to spool files of a backup, which are identified by the manifest in the archive.
struct ArchiveRereader {
    let source: ByteSource
    /// The spooler of the archive, before any reading.
    let spooler: ArchiveSpooler

    /// Spools the members at `paths` in the archive.
    func members(at paths: Set<[UInt8]>) async throws(ArchiveError) -> ArchiveSpooler.Result {
        try await spooler.spoolMembers(.source(source), only: paths)
    }
}
