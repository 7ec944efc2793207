import Files

/// Reads an archive a second time to copy the files of a backup to the spool.
///
/// The first reading copies the manifest, which identifies these files.
struct ArchiveRereader {
    let source: ByteSource
    /// The initial state of the spooler, before the archive was first read.
    let spooler: ArchiveSpooler

    func members(at paths: Set<[UInt8]>) async throws(ArchiveError) -> ArchiveSpooler.Result {
        try await spooler.spoolMembers(.source(source), only: paths)
    }
}
