import Bytes
import Files

/// A scanner that salvages the readable members of a damaged container without relying on its seek table.
///
/// The scanner finds zstd frames by their magic number, and expects one member in each frame. If a frame is damaged, the
/// search continues at the next magic number.
///
/// A scanner uses memory for a member of at most `memberSizeLimit` bytes and for a `FrameDecoder`. The running time is
/// linear in the size of the file and of the decoded contents. `maxWastedByteCount` ensures this for nested frames.
public struct FrameScanner: ~Copyable, Sendable {
    /// A complete member, whose contents a checksum has verified.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let name: String
        /// The contents of the member.
        public let contents: [UInt8]
    }

    /// A member, a part of a member, or a damaged span.
    public enum Finding: Sendable, Equatable {
        /// A complete member.
        case member(Member)
        /// The first part of the contents of a member, which no checksum has verified.
        case part(Member)
        /// A complete member that was skipped because it exceeds the limit.
        case tooLarge(name: String, size: Int, frameOffset: Int)
        /// A span of bytes that could not be read completely.
        ///
        /// `reason` is the reason for the first error in the span.
        case gap(offset: Int, length: Int, reason: FrameError)
    }

    /// Whether the end of the tar archive was found.
    ///
    /// If the value is `false` after the scan, members at the end can be missing without being reported.
    public private(set) var hasFoundEnd = false

    /// The number of bytes that are searched at a time.
    private static let searchWindowSize = 64 << 10

    private let source: ByteSource
    private let memberSizeLimit: Int
    private let endOffset: Int
    private var decoder = FrameDecoder()
    private var findings: [Finding] = []
    private var position = 0
    private var gap: (offset: Int, reason: FrameError)?
    private var wastedByteCount = 0

    /// The number of damaged bytes after which the decoded part of a damaged frame is no longer searched for frames.
    ///
    /// A damaged frame counts as the number of its bytes that were read, or as a sixteenth of its decoded size if that
    /// number is larger.
    private var maxWastedByteCount: Int { 16 * min(source.count, Int.max >> 5) + 1 << 20 }

    /// Creates a scanner that skips members larger than `memberSizeLimit` bytes.
    public init(_ source: ByteSource, memberSizeLimit: Int) throws(ContainerError) {
        endOffset = try Self.frameEnd(of: source)
        self.source = source
        self.memberSizeLimit = memberSizeLimit
    }

    /// Returns whether `source` begins with the members of a container in one frame, as after packing by another program.
    static func isRepacked(_ source: ByteSource) -> Bool {
        do throws(ContainerError) {
            var scanner = try FrameScanner(source, memberSizeLimit: 0)
            _ = try scanner.next()
            return false
        } catch {
            return error.reason == .repacked
        }
    }

    /// Returns the next finding, or `nil` at the end of the container.
    ///
    /// Damage is reported as a gap.
    ///
    /// - Throws: ``ContainerError`` if the source cannot be read, or if the first frame shows that another program has
    ///   packed the container again.
    public mutating func next() throws(ContainerError) -> Finding? {
        while findings.isEmpty, position < endOffset { try readNextFrame() }
        if findings.isEmpty { closeGap(at: endOffset) }
        return findings.isEmpty ? nil : findings.removeFirst()
    }

    private mutating func readNextFrame() throws(ContainerError) {
        if gap == nil, let size = try skippableFrameSize(at: position) { return position += size }
        let found = try findMagic(from: position)
        if found > position, gap == nil { gap = (position, .noFrame) }
        position = found
        guard position < endOffset else { return }
        var frame = ScannedFrame(memberSizeLimit: memberSizeLimit)
        do throws(ContainerError) {
            try decode(&frame)
        } catch {
            if case .file = error.reason { throw error }
            // Damage can have the same effect.
            if error.reason == .repacked, position == 0, isRestOfFrameIntact() { throw error }
            return abandon(frame, because: error.reason)
        }
        closeGap(at: position)
        if let header = frame.header {
            findings.append(
                frame.isTooLarge
                    ? .tooLarge(name: header.name, size: header.size, frameOffset: position)
                    : .member(Member(name: header.name, contents: frame.contents)))
        } else {
            hasFoundEnd = true
        }
        position = decoder.position
    }

    /// Decodes the frame at the current position, and checks that its contents are as this program writes them.
    private mutating func decode(_ frame: inout ScannedFrame) throws(ContainerError) {
        try decoder.start(source, at: position, end: endOffset, contentLimit: Int.max)
        do throws(FrameError) {
            while true {
                let hasMore: Bool
                do throws(ContainerError) { hasMore = try decoder.advance() } catch { throw error.reason }
                guard hasMore else { break }
                try frame.append(decoder.chunk)
            }
        } catch {
            throw ContainerError(at: position, error)
        }
        guard decoder.hasChecksum, frame.isComplete else { throw ContainerError(at: position, .unexpectedBytes) }
    }

    /// Returns whether the rest of the current frame, or a large part of it, can be decoded.
    private mutating func isRestOfFrameIntact() -> Bool {
        do {
            while decoder.decodedByteCount < maxWastedByteCount, try decoder.advance() {}
            return true
        } catch {
            return false
        }
    }

    /// Reports what was decoded of a damaged frame, and sets the position at which the search continues.
    private mutating func abandon(_ frame: ScannedFrame, because reason: FrameError) {
        if let header = frame.header, !frame.isTooLarge, !frame.contents.isEmpty {
            closeGap(at: position)
            findings.append(.part(Member(name: header.name, contents: frame.contents)))
        }
        if gap == nil { gap = (position, reason) }
        let used = max(decoder.position - position, FrameDecoder.magic.count)
        wastedByteCount += max(used, decoder.decodedByteCount / 16)
        position += wastedByteCount > maxWastedByteCount ? used : FrameDecoder.magic.count
    }

    private mutating func closeGap(at offset: Int) {
        guard let gap else { return }
        self.gap = nil
        guard offset > gap.offset else { return }
        findings.append(.gap(offset: gap.offset, length: offset - gap.offset, reason: gap.reason))
    }
}

// MARK: - The search for frames

extension FrameScanner {
    /// Returns the size of the complete skippable frame at `offset` (RFC 8878, 3.1.2), or `nil` if there is none.
    private func skippableFrameSize(at offset: Int) throws(ContainerError) -> Int? {
        guard endOffset - offset >= 8 else { return nil }
        let header = try source.read(at: offset, count: 8)
        guard let magic = header.littleEndian32(at: 0), magic & ~0xf == 0x184d_2a50,
            let size = header.littleEndian32(at: 4), Int(size) <= endOffset - offset - 8
        else { return nil }
        return 8 + Int(size)
    }

    /// Returns the offset of the first zstd magic number at or after `offset`, or `endOffset` if there is none.
    private func findMagic(from offset: Int) throws(ContainerError) -> Int {
        let magic = FrameDecoder.magic
        var start = offset
        while endOffset - start >= magic.count {
            let bytes = try source.read(at: start, count: min(Self.searchWindowSize, endOffset - start))
            let found = (0...bytes.count - magic.count).first { index in
                bytes[index] == magic[0] && bytes[index...].starts(with: magic)
            }
            if let found { return start + found }
            // A magic number can start in the last bytes and end in the next piece.
            start += bytes.count - magic.count + 1
        }
        return endOffset
    }

    /// Returns the offset of the seek table, or the end of `source` if there is no valid seek table.
    ///
    /// The scan ends at the seek table, so that the table is not reported as a gap if the last frame is damaged.
    private static func frameEnd(of source: ByteSource) throws(ContainerError) -> Int {
        do {
            return try SeekTable.read(from: source).entries.reduce(0) { $0 + Int($1.compressedSize) }
        } catch {
            if case .file = error.reason { throw error }
            return source.count
        }
    }
}

// MARK: - The contents of a frame

/// The decoded bytes of a frame, which should be one member or the end of the archive.
private struct ScannedFrame {
    /// The header of the member, or `nil` if it was not decoded yet or the frame is the end of the archive.
    private(set) var header: TarHeader?
    private let memberSizeLimit: Int
    /// The bytes that are kept: the header block, and the contents and the padding unless the member is too large.
    private var bytes: [UInt8] = []
    private var count = 0

    init(memberSizeLimit: Int) { self.memberSizeLimit = memberSizeLimit }

    /// Adds decoded bytes.
    ///
    /// - Throws: `FrameError.repacked` if the bytes are those of another tar program or continue after the member.
    mutating func append(_ chunk: Span<UInt8>) throws(FrameError) {
        count += chunk.count
        if header == nil || !isTooLarge { bytes.append(copying: chunk) }
        if header == nil, bytes.count >= TarHeader.blockSize, !isEnd {
            do {
                header = try TarHeader.decode(bytes.span.extracting(..<TarHeader.blockSize))
            } catch .wrongChecksum {
                throw .invalidHeader(.wrongChecksum)
            } catch {
                throw .repacked
            }
        }
        guard count <= header?.memberSize ?? 2 * TarHeader.blockSize else { throw .repacked }
    }

    /// Whether the bytes so far are those of the end of the archive.
    var isEnd: Bool { header == nil && bytes.span.isAllZero }

    /// Whether the frame is complete, and the bytes after the contents are zeros.
    var isComplete: Bool {
        guard let header else { return isEnd && count == 2 * TarHeader.blockSize }
        return count == header.memberSize && (isTooLarge || bytes.span.extracting(last: header.padding).isAllZero)
    }

    var isTooLarge: Bool { (header?.size ?? 0) > memberSizeLimit }

    /// The contents of the member that were decoded.
    var contents: [UInt8] { Array(bytes.dropFirst(TarHeader.blockSize).prefix(header?.size ?? 0)) }
}
