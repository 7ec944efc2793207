import CZstd
import Hashing

// Sendable although it holds a pointer: the value is the context's only owner.
/// Compresses the members of a container to independent zstd frames with content size and checksum.
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
    /// The table in which level 1 looks such stretches up, of 2^13 places: it stays in a processor's first cache. That of zstd's
    /// own choice is twice as large and finds no more in records, for what repeats stands near.
    private static let fastHashLog: Int32 = 13

    /// The maximum number of frames of a member of lines. Eight frames of a full segment would make it more than 2 % larger
    /// at the default level, because each frame begins without the records before it, which it could refer to.
    static let maxFramesPerMember = 7
    /// The size, in bytes, up to which a member of lines is one frame, and the usual size of the frames of one that is not
    /// much larger.
    private static let targetFrameSize = 64 << 10

    /// The most bytes that are compressed at once, for that may take room for the worst case.
    private static let singlePassLimit = 8 << 20

    /// The most that zstd decides about at once.
    private static let maxBlockSize = 128 << 10

    private let context: OpaquePointer
    /// Room for the frame under construction, kept from member to member. It grows with what is written, or to what a frame
    /// that is made at once mostly takes: the worst case is as large as the contents.
    private var output = [UInt8](repeating: 0, count: 128 << 10)
    private var outputCount = 0

    /// Creates an encoder of a compression level from 1 to 19.
    /// - Throws: `ContainerWriteError.level`, or `.zstd` when there is no memory.
    public init(level: Int) throws(ContainerWriteError) {
        guard Self.levels.contains(level) else { throw .level(level) }
        guard let context = ZSTD_createCCtx() else { throw .zstd("no memory") }
        self.context = context
        // None of these can fail: the values are in range and no frame is begun.
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

    /// Compresses a member.
    /// - Throws: `ContainerWriteError`: `header`, `tooLarge` or `zstd`.
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

    /// Compresses a member of lines to one or several frames, each of whole lines, so that damage to one of them leaves the
    /// lines of the others readable.
    ///
    /// The header is written in front of the contents, where `bytes` has room for it, so that nothing is copied.
    ///
    /// - Throws: `ContainerWriteError`: `header`, `tooLarge` or `zstd`.
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

    /// Returns the ranges of the frames of a member of lines. All but the last end with a line feed, and they are about
    /// equally large unless lines are long.
    private static func split(_ member: Span<UInt8>) -> [Range<Int>] {
        let count = min((member.count + targetFrameSize - 1) / targetFrameSize, maxFramesPerMember)
        var ranges: [Range<Int>] = []
        var start = 0
        for number in 1..<count {
            var end = member.count * number / count
            // A frame that does not begin with the tar header has at least as many bytes, so that salvage can tell that.
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

    /// The frame that was compressed last.
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

    /// Compresses all bytes of a frame at once.
    /// - Returns: how many bytes the frame has.
    private mutating func compress(_ bytes: Span<UInt8>) throws(ContainerWriteError) -> Int {
        // Records take less than a quarter; if not, there is room for the worst case from then on.
        growOutput(to: bytes.count / 4 + Self.maxBlockSize)
        let result = attempt(bytes)
        let worst = ZSTD_compressBound(bytes.count)
        guard output.count < worst, needsLargerOutput(result) else {
            try check(result)
            return result
        }
        growOutput(to: worst)
        let again = attempt(bytes)
        try check(again)
        return again
    }

    /// Whether a frame did not fit, or so barely that another one might have been made in more room: what is written must not
    /// depend on what the encoder wrote before.
    private func needsLargerOutput(_ result: Int) -> Bool {
        ZSTD_isError(result) != 0
            ? ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall : output.count - result < Self.maxBlockSize
    }

    private mutating func attempt(_ bytes: Span<UInt8>) -> Int {
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
