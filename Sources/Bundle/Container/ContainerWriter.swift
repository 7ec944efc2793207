import Bytes
import Hashing

/// A writer that outputs the members of a container in order, followed by a seek table.
///
/// Compress each member with a ``FrameEncoder`` and append it. After the last member, call ``finish(end:to:)``.
public struct ContainerWriter: Sendable {
    /// A member that has been written.
    public struct Member: Sendable, Equatable {
        /// The name of the member.
        public let name: String
        /// The size of the contents, in bytes.
        public let size: Int
        /// The SHA-256 hash of the contents.
        public let sha256: ContentHash
    }

    /// The members that have been written, in order.
    public private(set) var members: [Member] = []
    /// Whether any member consists of several frames.
    private(set) var hasSplitMembers = false
    private var names: Set<CapturedText> = []
    private var entries: [SeekTable.Entry] = []
    private var isClosed = false

    /// Creates a container without members.
    public init() {}

    /// Writes a member.
    ///
    /// - Throws: ``ContainerWriteError`` if `member` is rejected. In this case, nothing is written, and other members
    ///   can still be appended. If `sink` throws an error, the method rethrows the error and closes the writer.
    public mutating func append(_ member: EncodedMember, to sink: (Span<UInt8>) throws -> Void) throws {
        guard !isClosed else { throw ContainerWriteError.writerClosed }
        // One frame is reserved for the end of the archive.
        guard members.count < ContainerReader.maxMemberCount,
            entries.count + member.frames.count < SeekTable.maxFrameCount
        else { throw ContainerWriteError.tooManyMembers }
        guard !names.contains(member.name) else { throw ContainerWriteError.duplicateName(member.name) }
        let added = try member.frames.map { frame in try Self.seekTableEntry(for: frame, name: member.name) }
        for frame in member.frames { try write(frame.bytes, to: sink) }
        entries += added
        hasSplitMembers = hasSplitMembers || member.frames.count > 1
        names.insert(member.name)
        members.append(Member(name: member.name, size: member.size, sha256: member.sha256))
    }

    /// Writes `end`, the frame with the end of the archive, followed by the seek table, and closes the writer.
    public mutating func finish(end: EncodedFrame, to sink: (Span<UInt8>) throws -> Void) throws {
        guard !isClosed else { throw ContainerWriteError.writerClosed }
        entries.append(try Self.seekTableEntry(for: end, name: "end"))
        try write(end.bytes, to: sink)
        try write(SeekTable(entries).encoded(), to: sink)
        isClosed = true
    }

    private mutating func write(_ bytes: [UInt8], to sink: (Span<UInt8>) throws -> Void) throws {
        // If the sink throws an error, the writer stays closed, because the state of the output is unknown.
        isClosed = true
        try sink(bytes.span)
        isClosed = false
    }

    private static func seekTableEntry(for frame: EncodedFrame, name: String) throws(ContainerWriteError)
        -> SeekTable.Entry
    {
        // A frame ends with its checksum, the low 32 bits of XXH64 of the content (RFC 8878, 3.1.1). The seek table
        // contains the same checksum.
        guard let checksum = frame.bytes.littleEndian32(at: frame.bytes.count - 4),
            let compressed = UInt32(exactly: frame.bytes.count), let content = UInt32(exactly: frame.contentSize)
        else { throw .tooLarge(name: name) }
        return SeekTable.Entry(compressedSize: compressed, contentSize: content, checksum: checksum)
    }
}
