import Files
import JSONText

/// Reads a container through its seek table: any member without the others.
///
/// Opening reads the table and the header of each member and checks that they agree; contents and checksums
/// are checked when a member is read.
///
/// A class, and Sendable, because threads share it to read members in parallel (a non-copyable value cannot
/// be captured by several tasks); it is immutable, and each thread brings its own `FrameDecoder`.
public final class ContainerReader: Sendable {
    /// A member of the container.
    public struct Member: Sendable, Equatable {
        /// The member's name; see `TarHeader.name` for what it can be.
        public let name: String
        /// The size of the contents in bytes.
        public let size: Int
        /// The offset in the file at which its first frame begins.
        public let offset: Int
        /// The size of its frames in bytes.
        public let compressedSize: Int
        /// The indices of its frames in the seek table.
        let frames: Range<Int>
    }

    /// The maximum number of members that this program writes or accepts. It bounds the memory of a reader; at 4 MiB a segment
    /// it is 4 TiB of records.
    static let maxMemberCount = 1 << 20

    /// The members in file order.
    public let members: [Member]
    let source: ByteSource
    private let table: SeekTable
    /// How many times as large as its frame the records of a frame may be.
    private static let expectedMaxRatio = 1024

    /// Opens a source.
    ///
    /// - Throws: `ContainerError`: no zstd data, no or a bad seek table, a frame that is not as the table says,
    ///   frames that are not tar members, an invalid or repeated name, no end of the archive.
    public init(_ source: ByteSource) throws(ContainerError) {
        let (table, last) = try Self.table(of: source)
        var decoder = try FrameDecoder()
        var members = MemberList(table)
        while let frame = members.nextFrame {
            let header = try Self.header(in: frame, at: members.offset, source, &decoder)
            guard try members.append(header) else { throw ContainerError(at: members.offset, .unexpectedBytes) }
        }
        try Self.checkEnd(last, at: members.offset, source, &decoder)
        self.source = source
        self.table = table
        self.members = members.members
    }

    /// The seek table of a source, and what it says of the last frame, which is the end of the archive.
    private static func table(of source: ByteSource) throws(ContainerError) -> (SeekTable, last: SeekTable.Entry) {
        guard try source.read(at: 0, count: min(4, source.count)) == FrameDecoder.magic else {
            throw ContainerError(at: 0, .notZstd)
        }
        let table = try SeekTable.read(from: source)
        guard let last = table.entries.last else { throw ContainerError(at: 0, .badSeekTable("no frames")) }
        return (table, last)
    }

    private init(_ source: ByteSource, _ table: SeekTable, _ members: [Member]) {
        self.source = source
        self.table = table
        self.members = members
    }

    /// Reads the contents of a member, of at most `limit` bytes, with the decoder of the calling thread.
    /// - Throws: `ContainerError`; `overLimit` before anything is decoded.
    public func read(
        _ member: Member, with decoder: inout FrameDecoder, limit: Int
    ) throws(ContainerError) -> [UInt8] {
        guard member.size <= limit else { throw ContainerError(at: member.offset, .overLimit(limit)) }
        var verifier = MemberVerifier(try Self.header(member.name, member.size, at: member.offset))
        var contents: [UInt8] = []
        // Memory follows what the file holds, not what the header says; but growing would hold large contents twice.
        contents.reserveCapacity(min(member.size, Self.expectedMaxRatio * member.compressedSize))
        var offset = member.offset
        for frame in table.entries[member.frames] {
            try Self.start(frame, at: offset, source, &decoder)
            while try decoder.advance() {
                let range = try verifier.verify(decoder.chunk, at: offset)
                contents.append(copying: decoder.chunk.extracting(range))
            }
            offset = try Self.end(of: frame, at: offset, decoder)
        }
        guard verifier.isComplete else { throw ContainerError(at: member.offset, .unexpectedBytes) }
        return contents
    }
}

// MARK: - A container whose last member lists the others

extension ContainerReader {
    /// Opens a source without a look at any member but the first and the last one, which are its ``members``.
    ///
    /// Both have to be one frame each.
    ///
    /// - Throws: `ContainerError`, as `init(_:)`.
    static func openingEnds(of source: ByteSource) throws(ContainerError) -> ContainerReader {
        let (table, end) = try table(of: source)
        let frames = table.entries.dropLast()
        let offset = frames.reduce(0) { $0 + Int($1.compressedSize) }
        var decoder = try FrameDecoder()
        try checkEnd(end, at: offset, source, &decoder)
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
                    compressedSize: Int(frames[index].compressedSize), frames: index..<index + 1))
        }
        return ContainerReader(source, table, members)
    }

    /// Opens the same source with all members, which are listed elsewhere. None of them is looked at: that its frames hold the
    /// member that is listed is found out when it is read.
    ///
    /// - Parameter list: the names and sizes of all members, in file order.
    /// - Throws: `ContainerError`: the frames of the seek table cannot be those of the members; an invalid or repeated name.
    func withMembers(_ list: [(name: String, size: Int)]) throws(ContainerError) -> ContainerReader {
        var members = MemberList(table)
        for (name, size) in list {
            guard try members.append(Self.header(name, size, at: members.offset)) else {
                throw ContainerError(
                    at: members.offset, .unexpectedFrame("its content size is not that of \(name)"))
            }
        }
        guard members.nextFrame == nil else {
            throw ContainerError(at: members.offset, .unexpectedFrame("there are fewer members"))
        }
        return ContainerReader(source, table, members.members)
    }

    private static func header(_ name: String, _ size: Int, at offset: Int) throws(ContainerError) -> TarHeader {
        do {
            return try TarHeader(name: name, size: size)
        } catch {
            throw ContainerError(at: offset, .header(error))
        }
    }
}

// MARK: - The members that frames hold

/// The members of a container, found one after another.
private struct MemberList {
    private(set) var members: [ContainerReader.Member] = []
    /// The offset at which the next member begins.
    private(set) var offset = 0
    private var names: Set<String> = []
    private var rest: ArraySlice<SeekTable.Entry>

    init(_ table: SeekTable) {
        rest = table.entries.dropLast()
    }

    /// The first frame of the next member; nil at the end of the archive.
    var nextFrame: SeekTable.Entry? { rest.first }

    /// Adds the next member, with as many frames as it fills.
    ///
    /// - Returns: false if the content sizes of the frames do not add up to the size of the member.
    /// - Throws: `ContainerError` for a name that is repeated, or too many members.
    mutating func append(_ header: TarHeader) throws(ContainerError) -> Bool {
        let first = rest.startIndex
        var missing = header.memberSize
        var compressedSize = 0
        while missing > 0, let frame = rest.popFirst(), frame.contentSize > 0 {
            missing -= Int(frame.contentSize)
            compressedSize += Int(frame.compressedSize)
        }
        guard missing == 0 else { return false }
        guard names.insert(header.name).inserted else { throw ContainerError(at: offset, .duplicateName(header.name)) }
        guard members.count < ContainerReader.maxMemberCount else {
            throw ContainerError(at: offset, .overLimit(ContainerReader.maxMemberCount))
        }
        members.append(
            ContainerReader.Member(
                name: header.name, size: header.size, offset: offset, compressedSize: compressedSize,
                frames: first..<rest.startIndex))
        offset += compressedSize
        return true
    }
}

// MARK: - Frames

extension ContainerReader {
    /// Begins with a frame and checks all that can be checked before decoding.
    private static func start(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) {
        let end = offset + Int(entry.compressedSize)
        try decoder.start(source, at: offset, end: end, limit: Int(entry.contentSize))
        guard decoder.hasChecksum, !decoder.hasUnexpectedHeaderBits else {
            throw ContainerError(at: offset, .unexpectedFrame("no checksum, or an odd header"))
        }
        guard decoder.declaredContentSize == UInt64(entry.contentSize) else {
            throw ContainerError(at: offset, .unexpectedFrame("its content size is not the seek table's"))
        }
        guard try source.read(at: end - 4, count: 4).littleEndian32(at: 0) == entry.checksum else {
            throw ContainerError(at: offset, .unexpectedFrame("its checksum is not the seek table's"))
        }
    }

    /// Checks that a frame that was decoded ends where the seek table says, and returns that offset.
    private static func end(
        of entry: SeekTable.Entry, at offset: Int, _ decoder: borrowing FrameDecoder
    ) throws(ContainerError) -> Int {
        let end = offset + Int(entry.compressedSize)
        guard decoder.position == end else {
            throw ContainerError(at: offset, .unexpectedFrame("it ends before the seek table says"))
        }
        return end
    }

    /// Reads the tar header at the beginning of a frame; zstd has to decode its first block for that, no more.
    private static func header(
        in entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) -> TarHeader {
        try start(entry, at: offset, source, &decoder)
        var block: [UInt8] = []
        while block.count < TarHeader.blockSize, try decoder.advance() {
            let missing = TarHeader.blockSize - block.count
            block.append(copying: decoder.chunk.extracting(first: missing))
        }
        do {
            return try TarHeader.decode(block.span)
        } catch {
            throw ContainerError(at: offset, .header(error))
        }
    }

    private static func checkEnd(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) {
        guard Int(entry.contentSize) == 2 * TarHeader.blockSize else {
            throw ContainerError(at: offset, .noEnd)
        }
        try start(entry, at: offset, source, &decoder)
        while try decoder.advance() {
            guard decoder.chunk.isAllZero else { throw ContainerError(at: offset, .noEnd) }
        }
        _ = try end(of: entry, at: offset, decoder)
    }
}
