import CZstd
import Crypto

// Sendable although it holds a pointer: the value is the context's only owner.
/// Compresses the members of a container, each to an independent zstd frame with content size and checksum.
///
/// The result depends on the level, the library's version and the input alone. One encoder serves one thread
/// at a time; several work in parallel.
public struct FrameEncoder: ~Copyable, @unchecked Sendable {
    /// The levels that are accepted. Above them zstd wants windows that readers refuse by default.
    public static let levels = 1...19

    /// Up to this level records are compressed as at level 1. A record repeats long stretches of the one before, and zstd's
    /// level 1 looks for those alone: the short matches that levels 2 to 5 find besides cost more than they gain, so that
    /// their frames of records are larger, and take longer.
    private static let lastFastLevel = 5

    private let context: OpaquePointer
    /// Room for the frame under construction, kept from member to member. It grows with what is written: the worst case is
    /// as large as the contents, of which a frame mostly takes a small part.
    private var output = [UInt8](repeating: 0, count: 128 << 10)
    private var outputCount = 0

    /// An encoder.
    ///
    /// - Parameter level: the compression level, 1 to 19.
    /// - Throws: `ContainerWriteError.level`, or `.zstd` when there is no memory.
    public init(level: Int) throws(ContainerWriteError) {
        guard Self.levels.contains(level) else { throw .level(level) }
        guard let context = ZSTD_createCCtx() else { throw .zstd("no memory") }
        self.context = context
        // None of these can fail: the values are in range and no frame is begun.
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level <= Self.lastFastLevel ? 1 : level))
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Compresses a member.
    ///
    /// - Parameters:
    ///   - name: see `TarHeader.name`.
    ///   - contents: the member's bytes.
    /// - Throws: `ContainerWriteError`: `header`, `tooLarge` or `zstd`.
    public mutating func member(
        named name: String, contents: Span<UInt8>
    ) throws(ContainerWriteError) -> EncodedMember {
        let header: TarHeader
        do {
            header = try TarHeader(name: name, size: contents.count)
        } catch {
            throw .header(name: name, error)
        }
        guard header.memberSize <= UInt32.max else { throw .tooLarge(name: name) }
        try begin(contentSize: header.memberSize)
        try feed(header.encoded().span, ZSTD_e_continue)
        try feed(contents, ZSTD_e_continue)
        try feed([UInt8](repeating: 0, count: header.padding).span, ZSTD_e_end)
        var hash = SHA256()
        contents.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return EncodedMember(
            name: name, size: contents.count, sha256: ContentHash(hash.finalize()),
            frame: Array(output[..<outputCount]), contentSize: header.memberSize)
    }

    /// Compresses the end of the archive.
    ///
    /// - Throws: `ContainerWriteError.zstd`.
    public mutating func end() throws(ContainerWriteError) -> EncodedEnd {
        let zeros = [UInt8](repeating: 0, count: 2 * TarHeader.blockSize)
        try begin(contentSize: zeros.count)
        try feed(zeros.span, ZSTD_e_end)
        return EncodedEnd(frame: Array(output[..<outputCount]), contentSize: zeros.count)
    }

    private mutating func begin(contentSize: Int) throws(ContainerWriteError) {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        try check(ZSTD_CCtx_setPledgedSrcSize(context, UInt64(contentSize)))
        outputCount = 0
    }

    private mutating func feed(
        _ bytes: Span<UInt8>, _ directive: ZSTD_EndDirective
    ) throws(ContainerWriteError) {
        var consumed = 0
        while true {
            if outputCount == output.count { output += repeatElement(0, count: output.count) }
            let before = (consumed, outputCount)
            let result = step(bytes, &consumed, directive)
            try check(result)
            // An unfinished frame must not pass for a whole one.
            guard directive == ZSTD_e_end ? result > 0 : consumed < bytes.count else { return }
            guard before != (consumed, outputCount) else { throw .zstd("frame not finished") }
        }
    }

    /// Compresses until either the bytes or the room are at their end.
    private mutating func step(_ bytes: Span<UInt8>, _ consumed: inout Int, _ directive: ZSTD_EndDirective) -> Int {
        bytes.withUnsafeBytes { bytes in
            output.withUnsafeMutableBytes { room in
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: consumed)
                var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: outputCount)
                defer { (consumed, outputCount) = (input.pos, output.pos) }
                return ZSTD_compressStream2(context, &output, &input, directive)
            }
        }
    }

    private func check(_ result: Int) throws(ContainerWriteError) {
        guard ZSTD_isError(result) != 0 else { return }
        throw .zstd(String(cString: ZSTD_getErrorName(result)))
    }
}
