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

    /// The maximum number of frames of a member that consists of lines.
    ///
    /// More frames would make a full segment more than 2 % larger, because each frame is compressed separately.
    static let maxFramesPerMember = 7
    /// The approximate maximum uncompressed size, in bytes, of a frame that consists of lines.
    ///
    /// Frames are larger if the member would need more than `maxFramesPerMember` frames.
    private static let targetFrameSize = 64 << 10

    /// The maximum size, in bytes, of a member that is compressed in a single call.
    ///
    /// The limit bounds the size of the output buffer.
    private static let maxSinglePassSize = 8 << 20

    /// The maximum size of a zstd block in bytes.
    private static let maxBlockSize = 128 << 10

    private let context: OpaquePointer
    /// The buffer for the current frame.
    ///
    /// It grows as needed and is reused.
    private var outputBuffer = [UInt8](repeating: 0, count: 128 << 10)
    private var outputCount = 0

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
    public mutating func compressMember(
        named name: String, contents: Span<UInt8>
    ) throws(ContainerWriteError) -> EncodedMember {
        let header = try Self.header(named: name, size: contents.count)
        try beginFrame(contentSize: header.memberSize)
        try feed(header.encoded().span, ZSTD_e_continue)
        try feed(contents, ZSTD_e_continue)
        try feed([UInt8](repeating: 0, count: header.padding).span, ZSTD_e_end)
        return Self.encodedMember(header, contents, [currentFrame(contentSize: header.memberSize)])
    }

    /// Compresses a member that consists of lines into one or more frames.
    ///
    /// Each frame consists of whole lines, so that the lines are readable even if other frames are damaged. To avoid a
    /// copy, the header and the padding are written into `bytes` around the contents. A member with more than
    /// `maxSinglePassSize` bytes becomes one frame.
    public mutating func compressMember(named name: String, ofLines bytes: inout MemberBuffer)
        throws(ContainerWriteError)
        -> EncodedMember
    {
        guard bytes.count <= Self.maxSinglePassSize else {
            return try compressMember(named: name, contents: bytes.contents)
        }
        let header = try Self.header(named: name, size: bytes.count)
        let frames = try bytes.withMember(header) { member throws(ContainerWriteError) in
            try Self.frameRanges(of: member).map { range throws(ContainerWriteError) in
                outputCount = try compress(member.extracting(range))
                return currentFrame(contentSize: range.count)
            }
        }
        return Self.encodedMember(header, bytes.contents, frames)
    }

    /// Returns the ranges of the frames of a member that consists of lines.
    ///
    /// Each range except the last one ends with a line feed. Unless lines are long, the ranges have about the same
    /// size.
    private static func frameRanges(of member: Span<UInt8>) -> [Range<Int>] {
        let count = min((member.count + targetFrameSize - 1) / targetFrameSize, maxFramesPerMember)
        var ranges: [Range<Int>] = []
        var start = 0
        for number in 1..<count {
            var end = member.count * number / count
            // Every frame has at least the size of a tar header, so that `FrameScanner` can detect a frame without a
            // header.
            while end >= start + TarHeader.blockSize, member[end - 1] != UInt8(ascii: "\n") { end -= 1 }
            guard end >= start + TarHeader.blockSize else { continue }
            ranges.append(start..<end)
            start = end
        }
        return ranges + [start..<member.count]
    }

    private static func header(named name: String, size: Int) throws(ContainerWriteError) -> TarHeader {
        let header: TarHeader
        do {
            header = try TarHeader(name: name, size: size)
        } catch {
            throw .invalidHeader(name: name, error)
        }
        guard header.memberSize <= UInt32.max else { throw .tooLarge(name: name) }
        return header
    }

    private static func encodedMember(
        _ header: TarHeader, _ contents: Span<UInt8>, _ frames: [EncodedFrame]
    ) -> EncodedMember {
        EncodedMember(name: header.name, size: header.size, sha256: SHA256.hash(contents), frames: frames)
    }

    /// Returns the frame in the output buffer.
    private func currentFrame(contentSize: Int) -> EncodedFrame {
        EncodedFrame(bytes: Array(outputBuffer[..<outputCount]), contentSize: contentSize)
    }

    /// Compresses the end of the archive, which consists of two blocks of zeros, into a frame.
    public mutating func compressArchiveEnd() throws(ContainerWriteError) -> EncodedFrame {
        let zeros = [UInt8](repeating: 0, count: 2 * TarHeader.blockSize)
        try beginFrame(contentSize: zeros.count)
        try feed(zeros.span, ZSTD_e_end)
        return currentFrame(contentSize: zeros.count)
    }

    /// Compresses all bytes of a frame in a single call, and returns the size of the frame.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ContainerWriteError) -> Int {
        // Compressed records usually need less than a quarter of their size. If they need more, the buffer grows.
        growOutput(to: bytes.count / 4 + Self.maxBlockSize)
        var result = compressOnce(bytes)
        let worst = ZSTD_compressBound(bytes.count)
        if outputBuffer.count < worst, needsLargerOutput(result) {
            growOutput(to: worst)
            result = compressOnce(bytes)
        }
        try checkResult(result)
        return result
    }

    /// Returns whether the compression must be repeated with a larger output buffer.
    ///
    /// The result is `true` even for a buffer that is nearly full, because zstd could produce a different frame with a
    /// larger buffer, and the output must not depend on the size of the buffer.
    private func needsLargerOutput(_ result: Int) -> Bool {
        ZSTD_isError(result) != 0
            ? ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall : outputBuffer.count - result < Self.maxBlockSize
    }

    private mutating func compressOnce(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            outputBuffer.withUnsafeMutableBytes { room in
                ZSTD_compress2(context, room.baseAddress, room.count, bytes.baseAddress, bytes.count)
            }
        }
    }

    private mutating func growOutput(to count: Int) {
        if outputBuffer.count < count { outputBuffer += repeatElement(0, count: count - outputBuffer.count) }
    }

    private mutating func beginFrame(contentSize: Int) throws(ContainerWriteError) {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        try checkResult(ZSTD_CCtx_setPledgedSrcSize(context, UInt64(contentSize)))
        outputCount = 0
    }

    private mutating func feed(_ bytes: Span<UInt8>, _ directive: ZSTD_EndDirective) throws(ContainerWriteError) {
        var consumed = 0
        while true {
            if outputCount == outputBuffer.count { outputBuffer += repeatElement(0, count: outputBuffer.count) }
            let before = (consumed, outputCount)
            let result = compressStep(bytes, &consumed, directive)
            try checkResult(result)
            // Without this check, an incomplete frame could be returned.
            guard directive == ZSTD_e_end ? result > 0 : consumed < bytes.count else { return }
            guard before != (consumed, outputCount) else { throw .zstd("frame not finished") }
        }
    }

    /// Compresses until all bytes are consumed or the output buffer is full.
    private mutating func compressStep(_ bytes: Span<UInt8>, _ consumed: inout Int, _ directive: ZSTD_EndDirective)
        -> Int
    {
        bytes.withUnsafeBytes { bytes in
            outputBuffer.withUnsafeMutableBytes { room in
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: consumed)
                var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: outputCount)
                defer { (consumed, outputCount) = (input.pos, output.pos) }
                return ZSTD_compressStream2(context, &output, &input, directive)
            }
        }
    }

    private func checkResult(_ result: Int) throws(ContainerWriteError) {
        guard ZSTD_isError(result) != 0 else { return }
        throw .zstd(String(cString: ZSTD_getErrorName(result)))
    }
}
