import CZstd
import Files

// Sendable, because the pointer is not shared with other values.
/// A decoder that decompresses zstd frames in chunks, using a limited amount of memory.
///
/// A decoder uses two buffers of 128 KiB and a zstd window of at most 2^27 bytes. Frames that need a larger window are
/// rejected. Use a decoder on only one thread at a time.
///
///     try decoder.start(source, at: offset, end: source.count, contentLimit: limit)
///     while try decoder.advance() { use(decoder.chunk) }
public struct FrameDecoder: ~Copyable, @unchecked Sendable {
    /// The base-2 logarithm of the maximum window size in bytes.
    ///
    /// The `zstd` command has the same default limit.
    public static let windowLogLimit = 27
    /// The bytes with which each frame begins.
    public static let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]
    private static let bufferSize = 128 << 10
    private static let maxHeaderSize = 18

    private let context: OpaquePointer?
    private var inputBuffer: [UInt8] = []
    private var inputPosition = 0
    private var outputBuffer = [UInt8](repeating: 0, count: bufferSize)
    private var outputCount = 0

    private var source = ByteSource([])
    private var frameStart = 0
    private var nextReadOffset = 0
    /// The number of bytes that zstd requests for the next decoding step.
    private var neededByteCount = 0
    private var endOffset = 0
    private var contentLimit = 0
    private var isFrameFinished = true

    /// The number of bytes that have been decoded from the current frame.
    public private(set) var decodedByteCount = 0
    /// The content size in the header of the frame, or `nil` if the header does not specify a size.
    public private(set) var declaredContentSize: UInt64?
    /// Whether the frame has a checksum of its content.
    public private(set) var hasChecksum = false
    /// Whether the header specifies a dictionary or sets bits that RFC 8878 does not use.
    public private(set) var hasUnexpectedHeaderBits = false

    /// Creates a decoder without a frame.
    public init() {
        context = ZSTD_createDCtx()
        // This call cannot fail, because the value is valid and no frame has been started.
        if let context { ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(Self.windowLogLimit)) }
    }

    deinit { ZSTD_freeDCtx(context) }

    /// The offset, in the source, of the first byte that has not been decoded.
    public var position: Int { nextReadOffset - (inputBuffer.count - inputPosition) }

    /// The chunk that was decoded by the last call of ``advance()``.
    public var chunk: Span<UInt8> { outputBuffer.span.extracting(first: outputCount) }

    /// Starts decoding the frame at `offset`, even if the previous frame is incomplete.
    ///
    /// The frame must end at or before `end` and decode to at most `contentLimit` bytes.
    public mutating func start(_ source: ByteSource, at offset: Int, end: Int, contentLimit: Int) throws(ContainerError)
    {
        guard let context else { throw ContainerError(at: 0, .outOfMemory) }
        ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        self.source = source
        frameStart = offset
        nextReadOffset = offset
        endOffset = min(end, source.count)
        self.contentLimit = contentLimit
        inputBuffer.removeAll(keepingCapacity: true)
        (inputPosition, outputCount, decodedByteCount, neededByteCount) = (0, 0, 0, Self.maxHeaderSize)
        isFrameFinished = true
        guard (0..<source.count).contains(offset) else { throw ContainerError(at: offset, .noFrame) }
        try refillInput()
        try readHeader()
        isFrameFinished = false
    }

    /// Decodes the next chunk.
    ///
    /// Returns `false` at the end of the frame, after verifying the checksum if the frame has one. If a block is
    /// damaged, the blocks before it are still returned, although no checksum has verified them.
    public mutating func advance() throws(ContainerError) -> Bool {
        outputCount = 0
        while !isFrameFinished {
            if inputPosition == inputBuffer.count { try refillInput() }
            let result = decodeStep()
            if ZSTD_isError(result) != 0 {
                isFrameFinished = true
                let lacksMemory = ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
                throw ContainerError(
                    at: frameStart, lacksMemory ? .outOfMemory : .damaged(String(cString: ZSTD_getErrorName(result))))
            }
            isFrameFinished = result == 0
            decodedByteCount += outputCount
            guard decodedByteCount <= contentLimit else {
                isFrameFinished = true
                throw ContainerError(at: frameStart, .overLimit(contentLimit))
            }
            if outputCount > 0 { return true }
            if !isFrameFinished, inputPosition == inputBuffer.count, nextReadOffset >= endOffset {
                isFrameFinished = true
                throw ContainerError(at: frameStart, .truncated)
            }
        }
        return false
    }

    /// Calls zstd once, with the input for at most one block.
    ///
    /// If zstd fails, it does not report how many bytes were decoded in the call. Therefore, earlier blocks need
    /// separate calls.
    private mutating func decodeStep() -> Int {
        var (used, made) = (inputPosition, 0)
        let result = inputBuffer.withUnsafeBytes { bytes in
            outputBuffer.withUnsafeMutableBytes { room in
                let end = min(bytes.count, used + max(neededByteCount, 1))
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: end, pos: used)
                var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
                let result = ZSTD_decompressStream(context, &output, &input)
                (used, made) = (input.pos, output.pos)
                return result
            }
        }
        (inputPosition, outputCount, neededByteCount) = (used, made, result)
        return result
    }

    private mutating func refillInput() throws(ContainerError) {
        inputBuffer.removeAll(keepingCapacity: true)
        inputPosition = 0
        let wanted = min(Self.bufferSize, max(endOffset - nextReadOffset, 0))
        let offset = nextReadOffset
        do {
            try inputBuffer.append(addingCapacity: wanted) { output throws(FileError) in
                try source.read(at: offset, into: &output)
            }
        } catch {
            throw ContainerError(at: frameStart, .file(error))
        }
        nextReadOffset += inputBuffer.count
        // The file has become shorter, so the frame ends here.
        if inputBuffer.count < wanted { endOffset = nextReadOffset }
    }

    /// Reads the fields of the frame header that zstd does not report (RFC 8878, 3.1.1.1).
    ///
    /// Legacy frames and skippable frames, which zstd would accept, are rejected.
    private mutating func readHeader() throws(ContainerError) {
        guard inputBuffer.starts(with: Self.magic) else { throw ContainerError(at: frameStart, .noFrame) }
        guard inputBuffer.count > Self.magic.count else { throw ContainerError(at: frameStart, .truncated) }
        let descriptor = inputBuffer[Self.magic.count]
        hasChecksum = descriptor & 0b100 != 0
        hasUnexpectedHeaderBits = descriptor & 0b1_1011 != 0
        let size = inputBuffer.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        guard size != czstd_content_size_error() else {
            let isShort = inputBuffer.count < Self.maxHeaderSize
            throw ContainerError(at: frameStart, isShort ? .truncated : .damaged("bad frame header"))
        }
        declaredContentSize = size == czstd_content_size_unknown() ? nil : size
    }
}
