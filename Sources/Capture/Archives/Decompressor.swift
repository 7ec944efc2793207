import Bundle
import CArchive
import CZlib
import CZstd

/// A decompressor that produces the bytes of an archive block by block.
protocol Decompressor: AnyObject {
    /// The number of compressed bytes that were read.
    var offset: Int { get }
    var input: ArchiveInput { get }

    /// Returns the next block, which is valid until the next call. The block is empty at the end.
    ///
    /// - Throws: ``ArchiveError``, with the reason `checksum` if all bytes were decompressed and their checksum is
    ///   wrong, or `FileError` if the input cannot be read.
    func nextBlock() throws -> UnsafeRawBufferPointer
}

/// A decompressor that uses libarchive.
///
/// Only one filter is enabled, because libarchive would remove any number of nested compressions if all were enabled.
private final class LibarchiveDecompressor: Decompressor {
    private let archive: OpaquePointer
    let input: ArchiveInput
    /// Whether the decompressed data is empty, in which case libarchive provides no entry to read.
    private var isEmpty = true

    /// Creates a decompressor with the filter that `enable` enables.
    ///
    /// An error is thrown if libarchive does not support the filter itself, because libarchive would run a program
    /// instead.
    init(
        _ enable: (OpaquePointer) -> Int32, _ filter: Int32, of input: ArchiveInput
    ) throws {
        guard let archive = archive_read_new() else { throw ArchiveError(.unsupported("not enough memory")) }
        self.archive = archive
        self.input = input
        guard enable(archive) == ARCHIVE_OK, archive_read_append_filter(archive, filter) == ARCHIVE_OK,
            archive_read_support_format_raw(archive) == ARCHIVE_OK,
            archive_read_support_format_empty(archive) == ARCHIVE_OK
        else { throw ArchiveError(.unsupported("this libarchive was built without a compression that is needed")) }
        input.attach(to: archive)
        var entry: OpaquePointer?
        // libarchive opens malformed data as if it were empty, and reports the error only as a message.
        guard archive_read_open1(archive) == ARCHIVE_OK, archive_error_string(archive) == nil else { throw lastError() }
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_OK, ARCHIVE_WARN: isEmpty = false
        case ARCHIVE_EOF: isEmpty = true
        default: throw lastError()
        }
    }

    deinit { archive_read_free(archive) }

    var offset: Int { input.offset(ofReader: archive) }

    func nextBlock() throws -> UnsafeRawBufferPointer {
        guard !isEmpty else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        var start: UnsafeRawPointer?
        var count = 0
        var offset: Int64 = 0
        switch archive_read_data_block(archive, &start, &count, &offset) {
        case ARCHIVE_OK, ARCHIVE_WARN: return UnsafeRawBufferPointer(start: start, count: count)
        case ARCHIVE_EOF: return UnsafeRawBufferPointer(start: nil, count: 0)
        default: throw lastError()
        }
    }

    private func lastError() -> any Error {
        if let failure = input.callbackError { return failure }
        let words = archive_error_string(archive).map { String(cString: $0) }
        // libarchive has no code for this error: "lz4 stream checksum error", "Restored data doesn't match checksum".
        if let words, words.contains("checksum") { return ArchiveError(.checksum(words), at: offset) }
        return ArchiveError(ofLibarchive: words, at: offset)
    }
}

/// A gzip decompressor that uses zlib, because libarchive does not verify the checksum of gzip.
private final class GzipDecompressor: Decompressor {
    let input: ArchiveInput
    private var inflater: Inflater
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var isAtEnd = false

    init(of input: ArchiveInput) throws {
        self.input = input
        do throws(InflateError) {
            inflater = try Inflater()
        } catch {
            throw ArchiveError(.unsupported(error.reason))
        }
        buffer = .allocate(capacity: 256 << 10)
    }

    deinit { buffer.deallocate() }

    var offset: Int { input.offset }

    func nextBlock() throws -> UnsafeRawBufferPointer {
        var count = 0
        while count == 0, !isAtEnd {
            try input.refill()
            guard !input.unusedBytes.isEmpty else { throw ArchiveError(.damaged("truncated gzip input"), at: offset) }
            count = try inflate()
            if inflater.isAtEnd { try beginNextMember() }
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
    }

    private func inflate() throws -> Int {
        var output = OutputSpan(buffer: buffer, initializedCount: 0)
        var used = 0
        defer { input.consume(used) }
        do throws(InflateError) {
            try inflater.inflate(input.unusedBytes.assumingMemoryBound(to: UInt8.self).span, from: &used, into: &output)
        } catch {
            let words = "gzip decompression failed: \(error.reason)"
            throw ArchiveError(error.isMismatch ? .checksum(words) : .damaged(words), at: offset)
        }
        return output.finalize(for: buffer)
    }

    /// Continues with the next gzip member, or ends if there is none.
    ///
    /// Other bytes after a member are omitted, as by `gzip`. Some programs append a line ending or zeros.
    private func beginNextMember() throws {
        try input.refill()
        guard input.unusedBytes.first == 0x1F else {
            isAtEnd = true
            return try input.omitRest()
        }
        inflater.restart()
    }
}

/// A zstd decompressor that omits bytes after the last frame, because libarchive would report them as damage.
private final class ZstdDecompressor: Decompressor {
    let input: ArchiveInput
    private let context: OpaquePointer
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256 << 10)
    private var isInFrame = false
    private var hasFrame = false
    private var isAtEnd = false

    init(of input: ArchiveInput) throws {
        guard let context = ZSTD_createDCtx() else { throw ArchiveError(.unsupported("not enough memory")) }
        self.context = context
        self.input = input
        // This call cannot fail, because the value is valid and no frame has been started.
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(FrameDecoder.windowLogLimit))
    }

    deinit {
        ZSTD_freeDCtx(context)
        buffer.deallocate()
    }

    var offset: Int { input.offset }

    func nextBlock() throws -> UnsafeRawBufferPointer {
        var count = 0
        while count == 0, !isAtEnd {
            try input.refill()
            if input.unusedBytes.isEmpty {
                guard !isInFrame else { throw ArchiveError(.damaged("truncated zstd input"), at: offset) }
                isAtEnd = true
            } else {
                count = try decompress()
            }
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
    }

    private func decompress() throws -> Int {
        var source = ZSTD_inBuffer(src: input.unusedBytes.baseAddress, size: input.unusedBytes.count, pos: 0)
        var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
        let result = ZSTD_decompressStream(context, &output, &source)
        guard ZSTD_isError(result) == 0 else {
            let words = "zstd decompression failed: \(String(cString: ZSTD_getErrorName(result)))"
            switch ZSTD_getErrorCode(result) {
            case ZSTD_error_prefix_unknown where hasFrame:
                isAtEnd = true
                try input.omitRest()
                return 0
            case ZSTD_error_frameParameter_windowTooLarge: throw ArchiveError(.largeWindow, at: offset)
            case ZSTD_error_memory_allocation: throw ArchiveError(.unsupported("not enough memory"))
            case ZSTD_error_checksum_wrong: throw ArchiveError(.checksum(words), at: offset)
            default: throw ArchiveError(.damaged(words), at: offset)
            }
        }
        input.consume(source.pos)
        isInFrame = result != 0
        hasFrame = hasFrame || !isInFrame
        return output.pos
    }
}

/// The footer of an xz stream, which identifies the end of the stream.
///
/// Source: "The .xz File Format", section 2.1.2.
enum XZFooter {
    private static let size = 12
    private static let magic = Array("YZ".utf8)

    /// Returns the end of the last footer in `bytes`, or `nil` if there is none.
    static func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        stride(from: bytes.count, through: size, by: -1).first { end in
            guard bytes[..<end].suffix(2).elementsEqual(magic) else { return false }
            let start = end - size
            let stored = bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt($1) }
            // The checksum of the backward size and the flags.
            let fields = UnsafeRawBufferPointer(rebasing: bytes[start + 4..<start + 10])
            return CZlib.crc32(0, fields.bindMemory(to: UInt8.self).baseAddress, 6) == stored
        }
    }
}

// MARK: - Compression

extension Compression {
    func decompressor(of input: ArchiveInput) throws -> any Decompressor {
        switch self {
        case .gzip: return try GzipDecompressor(of: input)
        case .xz:
            input.omitsBytesAfterXZ = true
            return try LibarchiveDecompressor(archive_read_support_filter_xz, ARCHIVE_FILTER_XZ, of: input)
        case .zstd: return try ZstdDecompressor(of: input)
        case .bzip2:
            return try LibarchiveDecompressor(archive_read_support_filter_bzip2, ARCHIVE_FILTER_BZIP2, of: input)
        case .lz4: return try LibarchiveDecompressor(archive_read_support_filter_lz4, ARCHIVE_FILTER_LZ4, of: input)
        }
    }
}
