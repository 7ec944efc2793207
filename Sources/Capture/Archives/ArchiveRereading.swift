import Files

/// Reads an archive again for files of a backup in it, because the wanted ones are known only once its manifest was read.
struct ArchiveRereading {
    let source: ByteSource
    /// The spooler of the archive, before any reading.
    let spooler: ArchiveSpooler

    /// Spools the members at `paths` in the archive.
    func members(at paths: Set<[UInt8]>) async throws(ArchiveError) -> ArchiveSpooler.Result {
        try await spooler.run(.source(source), only: paths)
    }
}
