import Bytes
import Files
import JSONText

/// A reader that uses the seek table of a container to read members in any order.
///
/// Each frame but the last one is a member. The initializer reads the seek table and the end of the archive. Headers,
/// contents and checksums are checked when a member is read.
///
/// The type is an immutable class, so that several threads can read members in parallel. Each thread needs its own
/// `FrameDecoder`.
public final class ContainerReader: Sendable {
    /// A member of the container.
    public struct Member: Sendable, Equatable {
        /// The name of the member; see `TarHeader.name` for the allowed characters.
        public let name: String
        /// The size of the contents in bytes.
        public let size: Int
        /// The offset, in the file, of the frame of the member.
        public let offset: Int
        /// The size, in bytes, of the frame of the member.
        public var compressedSize: Int { Int(frame.compressedSize) }
        fileprivate let frame: SeekTable.Entry
    }

    /// The maximum number of members that this program writes or accepts.
    ///
    /// The limit bounds the memory of a reader. With segments of 256 KiB, it allows 128 GiB of records.
    static let maxMemberCount = 1 << 19

    let source: ByteSource
    /// The frames of the members.
    private let frames: ArraySlice<SeekTable.Entry>
    /// The offset, in the file, of each frame in `frames`.
    private let offsets: [Int]
    /// The maximum expected compression ratio of records.
    private static let maxExpectedCompressionRatio = 1024

    /// Opens a container.
    public init(_ source: ByteSource) throws(ContainerError) {
        guard try source.read(at: 0, count: min(4, source.count)) == FrameDecoder.magic else {
            throw ContainerError(at: 0, .notZstd)
        }
        let entries = try Self.seekTable(of: source).entries
        guard let end = entries.last else { throw ContainerError(at: 0, .badSeekTable("no frames")) }
        var offset = 0
        var offsets: [Int] = []
        offsets.reserveCapacity(entries.count)
        for frame in entries.dropLast() {
            offsets.append(offset)
            offset += Int(frame.compressedSize)
        }
        self.source = source
        self.offsets = offsets
        frames = entries.dropLast()
        var decoder = FrameDecoder()
        try Self.checkArchiveEnd(end, at: offset, source, &decoder)
    }

    private static func seekTable(of source: ByteSource) throws(ContainerError) -> SeekTable {
        do {
            return try SeekTable.read(from: source)
        } catch {
            guard error.reason == .noSeekTable, FrameScanner.isRepacked(source) else { throw error }
            throw ContainerError(at: 0, .repacked)
        }
    }

    /// The number of members.
    public var memberCount: Int { frames.count }

    /// Returns the member at `index` after reading its header.
    public func member(at index: Int, with decoder: inout FrameDecoder) throws(ContainerError) -> Member {
        let header = try Self.header(in: frames[index], at: offsets[index], source, &decoder)
        guard header.memberSize == Int(frames[index].contentSize) else {
            throw ContainerError(at: offsets[index], .unexpectedBytes)
        }
        return Member(name: header.name, size: header.size, offset: offsets[index], frame: frames[index])
    }

    /// Returns the member at `index`, whose header is compared with `name` and `size` when the member is read.
    func member(at index: Int, named name: String, size: Int) throws(ContainerError) -> Member {
        let header = try Self.header(name, size, at: offsets[index])
        guard header.memberSize == Int(frames[index].contentSize) else {
            throw ContainerError(
                at: offsets[index], .unexpectedFrame("its content size differs from that of \(name)"))
        }
        return Member(name: name, size: size, offset: offsets[index], frame: frames[index])
    }

    /// Reads the contents of a member.
    ///
    /// - Throws: ``ContainerError`` with the reason `overLimit`, before anything is decoded, if the contents have more
    ///   than `byteLimit` bytes.
    public func read(
        _ member: Member, with decoder: inout FrameDecoder, byteLimit: Int
    ) throws(ContainerError) -> [UInt8] {
        guard member.size <= byteLimit else { throw ContainerError(at: member.offset, .overLimit(byteLimit)) }
        var contents: [UInt8] = []
        // The capacity is limited by the compressed size, because the size in a damaged header can be arbitrarily
        // large.
        contents.reserveCapacity(min(member.size, Self.maxExpectedCompressionRatio * member.compressedSize))
        try forEachChunk(of: member, with: &decoder) { contents.append(copying: $0) }
        return contents
    }

    /// Calls `body` with the contents of a member, in chunks of limited size.
    ///
    /// The contents are not known to be valid until the method returns.
    public func forEachChunk(
        of member: Member, with decoder: inout FrameDecoder, _ body: (Span<UInt8>) -> Void
    ) throws(ContainerError) {
        var verifier = MemberVerifier(try Self.header(member.name, member.size, at: member.offset))
        try Self.startFrame(member.frame, at: member.offset, source, &decoder)
        while try decoder.advance() {
            let range = try verifier.verify(decoder.chunk, at: member.offset)
            body(decoder.chunk.extracting(range))
        }
        try Self.checkEnd(of: member.frame, at: member.offset, decoder)
        guard verifier.isComplete else { throw ContainerError(at: member.offset, .unexpectedBytes) }
    }

    private static func header(_ name: String, _ size: Int, at offset: Int) throws(ContainerError) -> TarHeader {
        do {
            return try TarHeader(name: name, size: size)
        } catch {
            throw ContainerError(at: offset, .invalidHeader(error))
        }
    }
}

// MARK: - Frames

extension ContainerReader {
    /// Starts decoding a frame, and compares its header and its checksum with `entry`.
    private static func startFrame(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) {
        let end = offset + Int(entry.compressedSize)
        try decoder.start(source, at: offset, end: end, contentLimit: Int(entry.contentSize))
        guard decoder.hasChecksum, !decoder.hasUnexpectedHeaderBits else {
            throw ContainerError(at: offset, .unexpectedFrame("it has no checksum, or an unexpected header"))
        }
        guard decoder.declaredContentSize == UInt64(entry.contentSize) else {
            throw ContainerError(at: offset, .unexpectedFrame("its content size differs from that in the seek table"))
        }
        guard try source.read(at: end - 4, count: 4).littleEndian32(at: 0) == entry.checksum else {
            throw ContainerError(at: offset, .unexpectedFrame("its checksum differs from that in the seek table"))
        }
    }

    /// Checks that a frame that was decoded completely ends where `entry` states.
    private static func checkEnd(
        of entry: SeekTable.Entry, at offset: Int, _ decoder: borrowing FrameDecoder
    ) throws(ContainerError) {
        guard decoder.position == offset + Int(entry.compressedSize) else {
            throw ContainerError(at: offset, .unexpectedFrame("it ends before the offset in the seek table"))
        }
    }

    /// Returns the tar header at the start of a frame, without decoding the whole frame.
    private static func header(
        in entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) -> TarHeader {
        try startFrame(entry, at: offset, source, &decoder)
        var block: [UInt8] = []
        while block.count < TarHeader.blockSize, try decoder.advance() {
            let missing = TarHeader.blockSize - block.count
            block.append(copying: decoder.chunk.extracting(first: missing))
        }
        do {
            return try TarHeader.decode(block.span)
        } catch {
            throw ContainerError(at: offset, .invalidHeader(error))
        }
    }

    /// Checks that the frame that `entry` describes contains the end of a tar archive: two blocks of zeros.
    private static func checkArchiveEnd(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) {
        guard Int(entry.contentSize) == 2 * TarHeader.blockSize else {
            throw ContainerError(at: offset, .missingArchiveEnd)
        }
        try startFrame(entry, at: offset, source, &decoder)
        while try decoder.advance() {
            guard decoder.chunk.isAllZero else { throw ContainerError(at: offset, .missingArchiveEnd) }
        }
        try checkEnd(of: entry, at: offset, decoder)
    }
}

/// A verifier that checks, in chunks, that decoded bytes consist of the expected header, contents of the expected size,
/// and zero bytes as padding.
private struct MemberVerifier {
    private let headerBytes: [UInt8]
    private let contentsEnd: Int
    private let memberSize: Int
    private var position = 0

    init(_ header: TarHeader) {
        headerBytes = header.encoded()
        contentsEnd = TarHeader.blockSize + header.size
        memberSize = header.memberSize
    }

    /// Verifies the next chunk, and returns the range of the chunk that belongs to the contents.
    mutating func verify(_ chunk: Span<UInt8>, at offset: Int) throws(ContainerError) -> Range<Int> {
        let error = ContainerError(at: offset, .unexpectedBytes)
        guard chunk.count <= memberSize - position else { throw error }
        let start = min(max(TarHeader.blockSize - position, 0), chunk.count)
        let end = max(min(contentsEnd - position, chunk.count), start)
        for index in 0..<start where chunk[index] != headerBytes[position + index] { throw error }
        for index in end..<chunk.count where chunk[index] != 0 { throw error }
        position += chunk.count
        return start..<end
    }

    /// Whether all bytes of the member have been verified.
    var isComplete: Bool { position == memberSize }
}

// MARK: - Errors

/// The reason why a container, or a part of it, cannot be read.
public struct ContainerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offset, in the file, of the frame or seek table that cannot be read.
    public let offset: Int
    /// The reason why the frame or seek table cannot be read.
    public let reason: FrameError

    /// Creates an error for the frame or seek table at `offset`.
    public init(at offset: Int, _ reason: FrameError) {
        self.offset = offset
        self.reason = reason
    }

    /// A description without the name of the file, such as `byte 8192: no zstd frame`.
    public var description: String {
        if case .file(let error) = reason { return error.description }
        return "byte \(offset): \(reason.text)"
    }

    /// A hint on how to resolve the error, or `nil` if no hint is available.
    public var remedy: String? {
        switch reason {
        case .noSeekTable, .badSeekTable, .truncated, .damaged, .noFrame, .unexpectedFrame, .missingArchiveEnd,
            .unexpectedBytes, .invalidHeader:
            "use another copy of the file, or read what is left of this one with convert --salvage"
        case .repacked: "unpack it with tar, and convert the files in its folder records"
        case .overLimit: "use another copy of the file; no bundle of this program exceeds the limit"
        case .file, .notZstd, .outOfMemory: nil
        }
    }
}

/// The reason why a frame of a container, such as the seek table, cannot be read.
///
/// ``ContainerError`` adds the position in the file.
public enum FrameError: Error, Sendable, Equatable {
    /// The file cannot be read.
    case file(FileError)
    /// The file does not start with the magic number of zstd.
    case notZstd
    /// The file has no seek table at its end.
    case noSeekTable
    /// The seek table is malformed for the given reason.
    case badSeekTable(String)
    /// There is no zstd frame at the expected position.
    case noFrame
    /// The file ends within the frame.
    case truncated
    /// zstd cannot decode the frame, or the checksum of the frame is wrong.
    case damaged(String)
    /// The frame is intact, but it is not a valid frame of a bundle.
    case unexpectedFrame(String)
    /// The frame does not start with a tar header as this program writes it.
    case invalidHeader(TarHeaderError)
    /// The frame does not contain exactly the member that its header describes.
    case unexpectedBytes
    /// Another program has unpacked the container and packed it again.
    case repacked
    /// The last frame is not the end of a tar archive.
    case missingArchiveEnd
    /// The number of bytes exceeds the given limit.
    case overLimit(Int)
    /// There is not enough memory for a decoder.
    case outOfMemory
}

extension FrameError {
    /// A short description for messages.
    var text: String {
        switch self {
        case .file(let error): error.description
        case .notZstd: "not a bundle (not zstd data)"
        case .noSeekTable:
            "no seek table at the end: not a bundle, cut short, or compressed again by another tool"
        case .badSeekTable(let how): "bad seek table (\(how))"
        case .noFrame: "no zstd frame"
        case .truncated: "the file ends within a zstd frame"
        case .damaged(let words): "damaged zstd frame (\(words))"
        case .unexpectedFrame(let how): "not a frame of a bundle (\(how))"
        case .invalidHeader(let error): error.text
        case .unexpectedBytes: "the frame is not exactly one tar member"
        case .repacked: "a bundle that another program packed again"
        case .missingArchiveEnd: "the end of the tar archive is missing"
        case .overLimit(let limit): "more than the limit of \(limit) bytes"
        case .outOfMemory: "not enough memory"
        }
    }
}

extension TarHeaderError {
    fileprivate var text: String {
        switch self {
        case .wrongLength: "no room for a tar header"
        case .wrongChecksum: "no tar header (its checksum is wrong)"
        case .notUstar: "not a POSIX ustar header"
        case .unsupportedType(let flag): "a tar member that is not a regular file (type \(flag))"
        case .invalidName: "a member name that is not allowed"
        case .invalidSize: "a tar header with a bad size"
        case .unexpectedField: "a tar header that this program does not write"
        }
    }
}
