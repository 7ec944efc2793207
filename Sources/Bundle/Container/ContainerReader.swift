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
        /// Where its frame begins in the file.
        public let offset: Int
        /// The size of its frame in bytes.
        public let compressedSize: Int
        let checksum: UInt32
    }

    /// The members in file order.
    public let members: [Member]
    let source: ByteSource
    /// How many times as large as its frame the records of a frame may be.
    private static let usualRatio = 1024

    /// Opens a file.
    ///
    /// - Throws: `ContainerError`, as `init(_:)`, or with reason `file`.
    public convenience init(path: String) throws(ContainerError) {
        let source: ByteSource
        do {
            source = ByteSource(try InputFile(path: path))
        } catch {
            throw ContainerError(at: 0, .file(error))
        }
        try self.init(source)
    }

    /// Opens a source.
    ///
    /// - Throws: `ContainerError`: no zstd data, no or a bad seek table, a frame that is not as the table says
    ///   or is not one tar member, an invalid or repeated name, no end of the archive.
    public init(_ source: ByteSource) throws(ContainerError) {
        let (table, last) = try Self.table(of: source)
        var decoder = try FrameDecoder()
        var members: [Member] = []
        members.reserveCapacity(table.entries.count)
        var names: Set<String> = []
        var offset = 0
        for entry in table.entries.dropLast() {
            let member = try Self.member(entry, at: offset, source, &decoder)
            guard names.insert(member.name).inserted else {
                throw ContainerError(at: offset, .duplicateName(member.name))
            }
            members.append(member)
            offset += member.compressedSize
        }
        try Self.checkEnd(last, at: offset, source, &decoder)
        self.source = source
        self.members = members
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

    private init(_ source: ByteSource, _ members: [Member]) {
        self.source = source
        self.members = members
    }

    /// The contents of a member.
    ///
    /// - Parameters:
    ///   - member: one of `members`.
    ///   - decoder: the calling thread's decoder.
    ///   - limit: the most bytes of contents to accept.
    /// - Throws: `ContainerError`; `overLimit` before anything is decoded.
    public func read(
        _ member: Member, with decoder: inout FrameDecoder, limit: Int
    ) throws(ContainerError) -> [UInt8] {
        guard member.size <= limit else { throw ContainerError(at: member.offset, .overLimit(limit)) }
        var cursor = try open(member, &decoder)
        var contents: [UInt8] = []
        // Memory follows what the file holds, not what the header says; but growing would hold large contents twice.
        contents.reserveCapacity(min(member.size, Self.usualRatio * member.compressedSize))
        while try decoder.advance() {
            let range = try Self.take(decoder.chunk, &cursor, member)
            contents.append(copying: decoder.chunk.extracting(range))
        }
        try close(member, cursor, decoder)
        return contents
    }

    /// The contents of a member in chunks, for members that are too large for memory.
    ///
    /// - Parameters:
    ///   - member: one of `members`.
    ///   - decoder: the calling thread's decoder.
    ///   - limit: the most bytes of contents to accept.
    ///   - body: takes the chunks in order. They are proven right only when this function returns: the
    ///     checksum comes last.
    /// - Throws: `ContainerError`, and what `body` throws.
    public func stream(
        _ member: Member, with decoder: inout FrameDecoder, limit: Int,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        guard member.size <= limit else { throw ContainerError(at: member.offset, .overLimit(limit)) }
        var cursor = try open(member, &decoder)
        while try decoder.advance() {
            let range = try Self.take(decoder.chunk, &cursor, member)
            if !range.isEmpty { try body(decoder.chunk.extracting(range)) }
        }
        try close(member, cursor, decoder)
    }
}

// MARK: - A container whose last member lists the others

extension ContainerReader {
    /// Opens a source without a look at any member but the first and the last one, which are its ``members``.
    ///
    /// - Returns: the reader, and how many members there are in all.
    /// - Throws: `ContainerError`, as `init(_:)`.
    static func ends(of source: ByteSource) throws(ContainerError) -> (reader: ContainerReader, count: Int) {
        let (table, end) = try table(of: source)
        let frames = table.entries.dropLast()
        let offset = frames.reduce(0) { $0 + Int($1.compressedSize) }
        var decoder = try FrameDecoder()
        try checkEnd(end, at: offset, source, &decoder)
        guard let first = frames.first, let last = frames.last else { return (ContainerReader(source, []), 0) }
        let members = [
            try member(first, at: 0, source, &decoder),
            try member(last, at: offset - Int(last.compressedSize), source, &decoder),
        ]
        return (ContainerReader(source, members), frames.count)
    }

    /// Opens the same source with all members, which are listed elsewhere. None of them is looked at: that a frame holds the
    /// member that is listed is found out when it is read.
    ///
    /// - Parameter list: the names and sizes of all members, in file order.
    /// - Throws: `ContainerError`: the seek table has not as many frames, or one of another size; an invalid or repeated name.
    func listing(_ list: [(name: String, size: Int)]) throws(ContainerError) -> ContainerReader {
        let (table, _) = try Self.table(of: source)
        let frames = table.entries.dropLast()
        guard list.count == frames.count else {
            throw ContainerError(at: 0, .badSeekTable("not as many frames as members are listed"))
        }
        var members: [Member] = []
        members.reserveCapacity(list.count)
        var names: Set<String> = []
        var offset = 0
        for (entry, (name, size)) in zip(frames, list) {
            guard names.insert(name).inserted else { throw ContainerError(at: offset, .duplicateName(name)) }
            guard try Self.header(name, size, at: offset).memberSize == Int(entry.contentSize) else {
                throw ContainerError(at: offset, .unexpectedFrame("its content size is not that of \(name)"))
            }
            members.append(
                Member(
                    name: name, size: size, offset: offset, compressedSize: Int(entry.compressedSize),
                    checksum: entry.checksum))
            offset += Int(entry.compressedSize)
        }
        return ContainerReader(source, members)
    }

    private static func header(_ name: String, _ size: Int, at offset: Int) throws(ContainerError) -> TarHeader {
        do {
            return try TarHeader(name: name, size: size)
        } catch {
            throw ContainerError(at: offset, .header(error))
        }
    }
}

// MARK: - A frame that must be one member

extension ContainerReader {
    private func open(
        _ member: Member, _ decoder: inout FrameDecoder
    ) throws(ContainerError) -> MemberCursor {
        let header = try Self.header(member.name, member.size, at: member.offset)
        let entry = SeekTable.Entry(
            compressedSize: UInt32(member.compressedSize), contentSize: UInt32(header.memberSize),
            checksum: member.checksum)
        try Self.start(entry, at: member.offset, source, &decoder)
        return MemberCursor(header)
    }

    private func close(
        _ member: Member, _ cursor: MemberCursor, _ decoder: borrowing FrameDecoder
    ) throws(ContainerError) {
        do {
            try cursor.finish()
        } catch {
            throw ContainerError(at: member.offset, error)
        }
        try Self.checkUsedUp(decoder, from: member.offset, to: member.offset + member.compressedSize)
    }

    private static func take(
        _ chunk: Span<UInt8>, _ cursor: inout MemberCursor, _ member: Member
    ) throws(ContainerError) -> Range<Int> {
        do {
            return try cursor.take(chunk)
        } catch {
            throw ContainerError(at: member.offset, error)
        }
    }

    /// Begins with a frame and checks all that can be checked before decoding.
    private static func start(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) {
        let end = offset + Int(entry.compressedSize)
        try decoder.start(source, at: offset, end: end, limit: Int(entry.contentSize))
        guard decoder.hasChecksum, !decoder.hasOddHeader else {
            throw ContainerError(at: offset, .unexpectedFrame("no checksum, or an odd header"))
        }
        guard decoder.statedSize == UInt64(entry.contentSize) else {
            throw ContainerError(at: offset, .unexpectedFrame("its content size is not the seek table's"))
        }
        guard try source.read(at: end - 4, count: 4).littleEndian32(at: 0) == entry.checksum else {
            throw ContainerError(at: offset, .unexpectedFrame("its checksum is not the seek table's"))
        }
    }

    private static func checkUsedUp(
        _ decoder: borrowing FrameDecoder, from offset: Int, to end: Int
    ) throws(ContainerError) {
        guard decoder.position == end else {
            throw ContainerError(at: offset, .unexpectedFrame("it ends before the seek table says"))
        }
    }

    /// Reads the header at the beginning of a frame; zstd has to decode its first block for that, no more.
    private static func member(
        _ entry: SeekTable.Entry, at offset: Int, _ source: ByteSource, _ decoder: inout FrameDecoder
    ) throws(ContainerError) -> Member {
        try start(entry, at: offset, source, &decoder)
        var block: [UInt8] = []
        while block.count < TarHeader.blockSize, try decoder.advance() {
            let missing = TarHeader.blockSize - block.count
            block.append(copying: decoder.chunk.extracting(first: missing))
        }
        let header: TarHeader
        do {
            header = try TarHeader.decode(block.span)
        } catch {
            throw ContainerError(at: offset, .header(error))
        }
        guard header.memberSize == Int(entry.contentSize) else {
            throw ContainerError(at: offset, .unexpectedBytes)
        }
        return Member(
            name: header.name, size: header.size, offset: offset,
            compressedSize: Int(entry.compressedSize), checksum: entry.checksum)
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
        try checkUsedUp(decoder, from: offset, to: offset + Int(entry.compressedSize))
    }
}
