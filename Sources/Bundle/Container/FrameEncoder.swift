import CZstd
import Hashing

// Sendable, because the value is the only owner of the context that the pointer refers to.
/// Compresses the members of a container into independent zstd frames with content sizes and checksums.
///
/// The output depends only on the level, the version of zstd and the input. An encoder must be used by one thread at a
/// time, but several encoders can work in parallel.
public struct FrameEncoder: ~Copyable, @unchecked Sendable {
    /// The accepted compression levels.
    ///
    /// Higher levels use windows that readers reject by default.
    public static let levels = 1...19

    /// The highest level at which records are compressed as at level 1.
    ///
    /// A record repeats long parts of the previous one, and level 1 of zstd searches only for such long matches. Levels
    /// 2 to 5 also find short matches, which makes frames of records larger and compression slower.
    private static let lastFastLevel = 5
    /// The size of the match table of level 1, as a power of two.
    ///
    /// The table fits into the first-level cache of a processor. The default table of zstd is twice as large and finds
    /// no more matches in records, because their matches are near.
    private static let fastHashLog: Int32 = 13

    /// The maximum number of frames of a member that contains lines.
    ///
    /// At the default level, eight frames would make a full segment more than 2 % larger, because a frame cannot refer
    /// to the records of the previous one.
    static let maxFramesPerMember = 7
    /// The usual content size, in bytes, of a frame of a member that contains lines.
    private static let targetFrameSize = 64 << 10

    /// The maximum size, in bytes, of a member that is compressed in a single call.
    ///
    /// A single call can need an output buffer for the worst case.
    private static let singlePassLimit = 8 << 20

    /// The maximum size of a zstd block in bytes.
    private static let maxBlockSize = 128 << 10

    private let context: OpaquePointer
    /// The buffer for the frame under construction, which grows as needed and is reused for later members.
    private var output = [UInt8](repeating: 0, count: 128 << 10)
    private var outputCount = 0

    /// Creates an encoder with a compression level from 1 to 19.
    public init(level: Int) throws(ContainerWriteError) {
        guard Self.levels.contains(level) else { throw .level(level) }
        guard let context = ZSTD_createCCtx() else { throw .zstd("no memory") }
        self.context = context
        // These calls cannot fail, because the values are in range and no frame has been started.
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
    public mutating func member(
        named name: String, contents: Span<UInt8>
    ) throws(ContainerWriteError) -> EncodedMember {
        let header = try Self.header(named: name, size: contents.count)
        try begin(contentSize: header.memberSize)
        try feed(header.encoded().span, ZSTD_e_continue)
        try feed(contents, ZSTD_e_continue)
        try feed([UInt8](repeating: 0, count: header.padding).span, ZSTD_e_end)
        return Self.encoded(header, contents, [frame(of: header.memberSize)])
    }

    /// Compresses a member that contains lines into one or several frames.
    ///
    /// Each frame consists of whole lines, so that damage to one frame leaves the lines of the others readable. The
    /// header and the padding are written into `bytes` around the contents, so that nothing is copied.
    public mutating func member(named name: String, ofLines bytes: inout MemberBuffer) throws(ContainerWriteError)
        -> EncodedMember
    {
        guard bytes.count <= Self.singlePassLimit else { return try member(named: name, contents: bytes.contents) }
        let header = try Self.header(named: name, size: bytes.count)
        let frames = try bytes.withMember(header) { member throws(ContainerWriteError) in
            try Self.split(member).map { range throws(ContainerWriteError) in
                outputCount = try compress(member.extracting(range))
                return frame(of: range.count)
            }
        }
        return Self.encoded(header, bytes.contents, frames)
    }

    /// Returns the ranges of the frames of a member that contains lines.
    ///
    /// Each range except the last one ends with a line feed. The ranges have about the same size unless lines are long.
    private static func split(_ member: Span<UInt8>) -> [Range<Int>] {
        let count = min((member.count + targetFrameSize - 1) / targetFrameSize, maxFramesPerMember)
        var ranges: [Range<Int>] = []
        var start = 0
        for number in 1..<count {
            var end = member.count * number / count
            // Every frame is at least as large as a tar header, so that salvage can recognize frames without a header.
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
            throw .header(name: name, error)
        }
        guard header.memberSize <= UInt32.max else { throw .tooLarge(name: name) }
        return header
    }

    private static func encoded(
        _ header: TarHeader, _ contents: Span<UInt8>, _ frames: [EncodedFrame]
    ) -> EncodedMember {
        EncodedMember(name: header.name, size: header.size, sha256: SHA256.hash(contents), frames: frames)
    }

    /// Returns the frame that was compressed last.
    private func frame(of contentSize: Int) -> EncodedFrame {
        EncodedFrame(bytes: Array(output[..<outputCount]), contentSize: contentSize)
    }

    /// Compresses the end of the archive.
    public mutating func end() throws(ContainerWriteError) -> EncodedFrame {
        let zeros = [UInt8](repeating: 0, count: 2 * TarHeader.blockSize)
        try begin(contentSize: zeros.count)
        try feed(zeros.span, ZSTD_e_end)
        return frame(of: zeros.count)
    }

    /// Compresses all bytes of a frame in a single call, and returns the size of the frame.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ContainerWriteError) -> Int {
        // Frames of records are usually smaller than a quarter of the records. Otherwise the output grows to the worst case.
        growOutput(to: bytes.count / 4 + Self.maxBlockSize)
        var result = compressOnce(bytes)
        let worst = ZSTD_compressBound(bytes.count)
        if output.count < worst, needsLargerOutput(result) {
            growOutput(to: worst)
            result = compressOnce(bytes)
        }
        try check(result)
        return result
    }

    /// Returns whether a frame did not fit into the output, or fitted so tightly that a larger output could give
    /// another frame.
    ///
    /// The output must not depend on the size that the buffer had before.
    private func needsLargerOutput(_ result: Int) -> Bool {
        ZSTD_isError(result) != 0
            ? ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall : output.count - result < Self.maxBlockSize
    }

    private mutating func compressOnce(_ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            output.withUnsafeMutableBytes { room in
                ZSTD_compress2(context, room.baseAddress, room.count, bytes.baseAddress, bytes.count)
            }
        }
    }

    private mutating func growOutput(to count: Int) {
        if output.count < count { output += repeatElement(0, count: count - output.count) }
    }

    private mutating func begin(contentSize: Int) throws(ContainerWriteError) {
        ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        try check(ZSTD_CCtx_setPledgedSrcSize(context, UInt64(contentSize)))
        outputCount = 0
    }

    private mutating func feed(_ bytes: Span<UInt8>, _ directive: ZSTD_EndDirective) throws(ContainerWriteError) {
        var consumed = 0
        while true {
            if outputCount == output.count { output += repeatElement(0, count: output.count) }
            let before = (consumed, outputCount)
            let result = step(bytes, &consumed, directive)
            try check(result)
            // An incomplete frame must not be returned as a complete one.
            guard directive == ZSTD_e_end ? result > 0 : consumed < bytes.count else { return }
            guard before != (consumed, outputCount) else { throw .zstd("frame not finished") }
        }
    }

    /// Compresses until all bytes are consumed or the output is full.
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
