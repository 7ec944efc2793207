import CArchive

/// A compression format for whole archives, recognized by its first bytes.
enum Compression: CaseIterable {
    case gzip, xz, zstd, bzip2, lz4

    /// The maximum number of nested compressions.
    ///
    /// Each level multiplies the cost of a decompression bomb.
    static let maximumLevels = 2

    /// Detects the compression by the first bytes of a file, or returns `nil` if the bytes match no compression.
    init?(head: [UInt8]) {
        guard let found = Self.allCases.first(where: { $0.matches(head) }) else { return nil }
        self = found
    }

    private func matches(_ head: [UInt8]) -> Bool {
        switch self {
        case .gzip: head.starts(with: [0x1F, 0x8B])
        case .xz: head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])
        // The file begins with a frame, or with a skippable frame, which parallel compressors write first.
        case .zstd:
            head.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
                || head.count >= 4 && head[0] & 0xF0 == 0x50 && head[1...3].elementsEqual([0x2A, 0x4D, 0x18])
        case .bzip2: head.starts(with: "BZh".utf8)
        // The current frame format and the legacy format.
        case .lz4: head.starts(with: [0x04, 0x22, 0x4D, 0x18]) || head.starts(with: [0x02, 0x21, 0x4C, 0x18])
        }
    }

    func decompressor(of input: ArchiveInput) throws(ArchiveError) -> any Decompressor {
        switch self {
        case .gzip: try GzipDecompressor(of: input)
        case .xz: try LibarchiveDecompressor(archive_read_support_filter_xz, ARCHIVE_FILTER_XZ, of: input)
        case .zstd: try LibarchiveDecompressor(archive_read_support_filter_zstd, ARCHIVE_FILTER_ZSTD, of: input)
        case .bzip2: try LibarchiveDecompressor(archive_read_support_filter_bzip2, ARCHIVE_FILTER_BZIP2, of: input)
        case .lz4: try LibarchiveDecompressor(archive_read_support_filter_lz4, ARCHIVE_FILTER_LZ4, of: input)
        }
    }
}
