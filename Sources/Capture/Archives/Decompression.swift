import CArchive

/// Takes one compression off an archive, block by block.
///
/// libarchive would look for compressions in compressions itself, to a depth of its own and before any limit of ours
/// applies; so it is told which one there is, and never asked to look.
final class Decompression {
    private let archive: OpaquePointer
    private let input: ArchiveInput
    /// The first block, until it is handed on.
    private var first: UnsafeRawBufferPointer?

    /// Begins at the start of the compressed bytes.
    /// - Throws: ``ArchiveError``.
    init(_ compression: Compression, of input: ArchiveInput) throws(ArchiveError) {
        guard let archive = archive_read_new() else { throw ArchiveError(.unsupported("not enough memory")) }
        self.archive = archive
        self.input = input
        guard compression.append(to: archive), archive_read_support_format_raw(archive) == ARCHIVE_OK,
            archive_read_support_format_empty(archive) == ARCHIVE_OK
        else { throw ArchiveError(.unsupported("this libarchive was built without a compression that is needed")) }
        input.attach(to: archive)
        var entry: OpaquePointer?
        guard archive_read_open1(archive) == ARCHIVE_OK, archive_read_next_header(archive, &entry) >= ARCHIVE_WARN
        else {
            throw input.failure ?? ArchiveError(.unknownFormat)
        }
        first = try block()
    }

    deinit { archive_read_free(archive) }

    /// The first bytes, before any block is taken.
    var head: [UInt8] { first.map { Array($0.prefix(Compression.headSize)) } ?? [] }

    /// The next bytes, good until the next call; none at the end.
    /// - Throws: ``ArchiveError``.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer {
        if let block = first {
            first = nil
            return block
        }
        return try block()
    }

    private func block() throws(ArchiveError) -> UnsafeRawBufferPointer {
        var start: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        switch archive_read_data_block(archive, &start, &count, &offset) {
        case ARCHIVE_OK, ARCHIVE_WARN: return UnsafeRawBufferPointer(start: start, count: count)
        case ARCHIVE_EOF: return UnsafeRawBufferPointer(start: nil, count: 0)
        default:
            if let failure = input.failure { throw failure }
            let words = archive_error_string(archive).map { String(cString: $0) } ?? "unknown reason"
            throw ArchiveError(.damaged(words), at: self.offset)
        }
    }

    /// How far the archive was read, in bytes as it lies there.
    var offset: Int { input.offset(ofReader: archive) }
    /// How many bytes there are of the archive as it lies there, or were read of it where that is not known.
    var archivedCount: Int { input.archivedCount }
}
