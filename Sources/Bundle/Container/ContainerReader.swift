import Bytes
import Files
import JSONText

/// A reader that uses the seek table of a container to read members in any order.
///
/// The initializer compares the seek table with the tar header of each member. Contents and checksums are checked when
/// a member is read.
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
        /// The offset, in the file, of the first frame of the member.
        public let offset: Int
        /// The total size, in bytes, of the frames of the member.
        public let compressedSize: Int
        /// The indices, in the seek table, of the frames of the member.
        let frameIndices: Range<Int>
    }

    /// The maximum number of members that this program writes or accepts.
    ///
    /// The limit bounds the memory of a reader. With segments of 4 MiB, it allows 4 TiB of records.
    static let maxMemberCount = 1 << 20

    /// The members in file order.
    public let members: [Member]
    let source: ByteSource
    private let seekTable: SeekTable
    /// The maximum expected compression ratio of records.
    private static let maxExpectedCompressionRatio = 1024

    /// Opens a container and reads the headers of all members.
    public init(_ source: ByteSource) throws(ContainerError) {
        let (table, last) = try Self.readSeekTable(of: source)
        var decoder = try FrameDecoder()
        var members = MemberList(table)
        while let frame = members.nextFrame {
            let header = try Self.header(in: frame, at: members.offset, source, &decoder)
            guard try members.append(header) else { throw ContainerError(at: members.offset, .unexpectedBytes) }
        }
        try Self.checkArchiveEnd(last, at: members.offset, source, &decoder)
        self.source = source
        seekTable = table
        self.members = members.members
    }

    /// Returns the seek table of `source` and its last entry, which describes the end of the tar archive.
    private static func readSeekTable(of source: ByteSource) throws(ContainerError) -> (
        SeekTable, last: SeekTable.Entry
    ) {
        guard try source.read(at: 0, count: min(4, source.count)) == FrameDecoder.magic else {
            throw ContainerError(at: 0, .notZstd)
        }
        let table = try SeekTable.read(from: source)
        guard let last = table.entries.last else { throw ContainerError(at: 0, .badSeekTable("no frames")) }
        return (table, last)
    }

    private init(_ source: ByteSource, _ table: SeekTable, _ members: [Member]) {
        self.source = source
        seekTable = table
        self.members = members
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
        var offset = member.offset
        for frame in seekTable.entries[member.frameIndices] {
            try Self.startFrame(frame, at: offset, source, &decoder)
            while try decoder.advance() {
                let range = try verifier.verify(decoder.chunk, at: offset)
                body(decoder.chunk.extracting(range))
            }
            offset = try Self.endOffset(of: frame, at: offset, decoder)
        }
        guard verifier.isComplete else { throw ContainerError(at: member.offset, .unexpectedBytes) }
    }
}

// MARK: - Opening without reading all headers

extension ContainerReader {
    /// Opens a container to read only its first and last member, without reading the headers of the other members.
    ///
    /// Each of the two members must consist of one frame.
    static func openingFirstAndLastMember(of source: ByteSource) throws(ContainerError) -> ContainerReader {
        let (table, end) = try readSeekTable(of: source)
        let frames = table.entries.dropLast()
        let offset = frames.reduce(0) { $0 + Int($1.compressedSize) }
        var decoder = try FrameDecoder()
        try checkArchiveEnd(end, at: offset, source, &decoder)
        guard let last = frames.indices.last else { return ContainerReader(source, table, []) }
        var members: [Member] = []
        for (index, offset) in [(0, 0), (last, offset - Int(frames[last].compressedSize))] {
            let header = try header(in: frames[index], at: offset, source, &decoder)
            guard header.memberSize == Int(frames[index].contentSize) else {
                throw ContainerError(at: offset, .unexpectedBytes)
            }
            members.append(
                Member(
                    name: header.name, size: header.size, offset: offset,
                    compressedSize: Int(frames[index].compressedSize), frameIndices: index..<index + 1))
        }
        return ContainerReader(source, table, members)
    }

    /// Returns a reader of the same container that has the members in `list`, which must be complete.
    ///
    /// The names and sizes in `list` are compared with the headers in the container when a member is read.
    func withMembers(_ list: [(name: String, size: Int)]) throws(ContainerError) -> ContainerReader {
        var members = MemberList(seekTable)
        for (name, size) in list {
            guard try members.append(Self.header(name, size, at: members.offset)) else {
                throw ContainerError(
                    at: members.offset, .unexpectedFrame("its content size differs from that of \(name)"))
            }
        }
        guard members.nextFrame == nil else {
            throw ContainerError(at: members.offset, .unexpectedFrame("the manifest lists fewer members"))
        }
        return ContainerReader(source, seekTable, members.members)
    }

    private static func header(_ name: String, _ size: Int, at offset: Int) throws(ContainerError) -> TarHeader {
        do {
            return try TarHeader(name: name, size: size)
        } catch {
            throw ContainerError(at: offset, .invalidHeader(error))
        }
    }
}

// MARK: - Members and their frames

/// The members that have been found in the frames of a container.
private struct MemberList {
    private(set) var members: [ContainerReader.Member] = []
    /// The offset, in the file, of the next member.
    private(set) var offset = 0
    private var names: Set<CapturedText> = []
    private var remainingFrames: ArraySlice<SeekTable.Entry>

    init(_ table: SeekTable) {
        remainingFrames = table.entries.dropLast()
    }

    /// The seek table entry of the first frame of the next member, or `nil` if only the end of the archive remains.
    var nextFrame: SeekTable.Entry? { remainingFrames.first }

    /// Adds the next member, which consists of one or more of the remaining frames.
    ///
    /// - Returns: Whether the content sizes of the frames add up to the size of the member.
    mutating func append(_ header: TarHeader) throws(ContainerError) -> Bool {
        let first = remainingFrames.startIndex
        var missing = header.memberSize
        var compressedSize = 0
        while missing > 0, let frame = remainingFrames.popFirst(), frame.contentSize > 0 {
            missing -= Int(frame.contentSize)
            compressedSize += Int(frame.compressedSize)
        }
        guard missing == 0 else { return false }
        guard names.insert(header.name) else { throw ContainerError(at: offset, .duplicateName(header.name)) }
        guard members.count < ContainerReader.maxMemberCount else {
            throw ContainerError(at: offset, .tooManyMembers)
        }
        members.append(
            ContainerReader.Member(
                name: header.name, size: header.size, offset: offset, compressedSize: compressedSize,
                frameIndices: first..<remainingFrames.startIndex))
        offset += compressedSize
        return true
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

    /// Returns the end offset of a decoded frame after comparing it with the size in `entry`.
    private static func endOffset(
        of entry: SeekTable.Entry, at offset: Int, _ decoder: borrowing FrameDecoder
    ) throws(ContainerError) -> Int {
        let end = offset + Int(entry.compressedSize)
        guard decoder.position == end else {
            throw ContainerError(at: offset, .unexpectedFrame("it ends before the offset in the seek table"))
        }
        return end
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
        _ = try endOffset(of: entry, at: offset, decoder)
    }
}
