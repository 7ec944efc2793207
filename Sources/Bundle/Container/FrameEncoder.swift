import CZstd
import Hashing

// Sendable, because the pointer is not shared with other values.
/// An encoder that compresses members of a container into independent zstd frames with content sizes and checksums.
///
/// The output depends only on the level, the version of zstd and the input. Use an encoder on only one thread at a
/// time.
public struct FrameEncoder: ~Copyable, @unchecked Sendable {
    /// The accepted compression levels.
    ///
    /// Higher levels need more memory than decoders allow by default.
    public static let levels = 1...19

    /// The highest level for which records are compressed with the settings of level 1.
    ///
    /// A record repeats long parts of the previous record, and level 1 of zstd searches only for such long matches.
    /// Levels 2 to 5 also find short matches, but compress records more slowly and into larger frames.
    private static let lastFastLevel = 5
    /// The base-2 logarithm of the size of the match table of level 1.
    ///
    /// The table fits into the first-level cache of a processor. A larger table does not find more matches in records.
    private static let fastHashLog: Int32 = 13

    private let context: OpaquePointer
    /// Creates an encoder with a compression level from 1 to 19.
    public init(level: Int) throws(ContainerWriteError) {
        guard Self.levels.contains(level) else { throw .invalidLevel(level) }
        guard let context = ZSTD_createCCtx() else { throw .zstd("no memory") }
        self.context = context
        // These calls cannot fail, because the values are valid and no frame has been started.
        if level <= Self.lastFastLevel {
            ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
            ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, Self.fastHashLog)
        } else {
            ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
        }
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Compresses a member into one frame.
    public func compressMember(
        named name: String, contents: Span<UInt8>
    ) throws(ContainerWriteError) -> EncodedMember {
        let header: TarHeader
        do {
            header = try TarHeader(name: name, size: contents.count)
        } catch {
            throw .invalidHeader(name: name, error)
        }
        guard header.memberSize <= UInt32.max else { throw .tooLarge(name: name) }
        var bytes = header.encoded()
        bytes.reserveCapacity(header.memberSize)
        bytes.append(copying: contents)
        bytes += repeatElement(0, count: header.padding)
        return EncodedMember(
            name: name, size: contents.count, sha256: SHA256.hash(contents), frame: try compress(bytes.span))
    }

    /// Compresses the end of the archive, which consists of two blocks of zeros, into a frame.
    public func compressArchiveEnd() throws(ContainerWriteError) -> EncodedFrame {
        try compress([UInt8](repeating: 0, count: 2 * TarHeader.blockSize).span)
    }

    private func compress(_ bytes: Span<UInt8>) throws(ContainerWriteError) -> EncodedFrame {
        var result = 0
        let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { output, count in
            result = bytes.withUnsafeBytes { input in
                ZSTD_compress2(context, output.baseAddress, output.count, input.baseAddress, input.count)
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        guard ZSTD_isError(result) == 0 else { throw .zstd(String(cString: ZSTD_getErrorName(result))) }
        return EncodedFrame(bytes: frame, contentSize: bytes.count)
    }
}
