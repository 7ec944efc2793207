import Files
import Parallel
import Telemetry

/// Reads an archive once more, for files of a backup in it: which ones are wanted is known only when its manifest is.
struct ArchiveRereading {
    private let source: ByteSource
    private let place: ArchivePlace
    private let spool: Spool
    private let formats: [StoreFormat]
    private let jobs: JobLimit

    init(
        _ source: ByteSource, _ place: ArchivePlace, spool: Spool, formats: [StoreFormat], jobs: JobLimit
    ) {
        self.jobs = jobs
        self.source = source
        self.place = place
        self.spool = spool
        self.formats = formats
    }

    /// Spools some members.
    /// - Parameter paths: theirs in the archive.
    /// - Throws: ``ArchiveError``.
    func members(at paths: Set<[UInt8]>) async throws(ArchiveError) -> ArchiveSpooler.Result {
        try await ArchiveSpooler(place, spool: spool, formats: formats, jobs: jobs).run(.source(source), only: paths)
    }
}
