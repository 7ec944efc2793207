import Files
import Telemetry

/// Reads an archive once more, for files of a backup in it: which ones are wanted is known only when its manifest is.
struct ArchiveRereading {
    private let source: ByteSource
    private let place: ArchivePlace
    private let spool: Spool
    private let formats: [any StoreFormat]

    init(_ source: ByteSource, _ place: ArchivePlace, spool: Spool, formats: [any StoreFormat]) {
        self.source = source
        self.place = place
        self.spool = spool
        self.formats = formats
    }

    /// Spools some members.
    /// - Parameter paths: theirs in the archive.
    /// - Throws: ``ArchiveError``.
    func members(at paths: Set<[UInt8]>) throws(ArchiveError) -> ArchiveSpooler.Result {
        try ArchiveSpooler(place, spool: spool, formats: formats).run(.source(source), only: paths)
    }
}
