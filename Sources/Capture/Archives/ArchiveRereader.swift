import Files

/// A second reading of an archive, in which the files of its backups are copied to the spool.
///
/// The first reading copies the manifests, which identify these files.
struct ArchiveRereader {
    let source: ByteSource
    /// The initial state of the spooler, before the archive was first read.
    let spooler: ArchiveSpooler

    func members(at paths: Set<[UInt8]>) throws(ArchiveError) -> ArchiveSpooler.Result {
        try spooler.spoolMembers(.source(source), only: paths)
    }
}
