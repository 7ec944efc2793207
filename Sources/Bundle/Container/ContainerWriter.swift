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
        guard members.count < ContainerReader.maxMemberCount else { throw ContainerWriteError.tooManyMembers }
        guard !names.contains(member.name) else { throw ContainerWriteError.duplicateName(member.name) }
        let entry = try Self.seekTableEntry(for: member.frame, name: member.name)
        try write(member.frame.bytes, to: sink)
        entries.append(entry)
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

// MARK: - Members and errors

/// A compressed zstd frame of a container.
public struct EncodedFrame: Sendable, Equatable {
    /// The bytes of the frame.
    public let bytes: [UInt8]
    /// The number of bytes that the frame decodes to.
    public let contentSize: Int
}

/// A member of a container, compressed and ready to be written.
public struct EncodedMember: Sendable, Equatable {
    /// The name of the member.
    public let name: String
    /// The size of the contents in bytes.
    public let size: Int
    /// The SHA-256 hash of the contents.
    public let sha256: ContentHash
    /// The frame, which contains the tar header, the contents and the padding.
    public let frame: EncodedFrame
}

/// The reason why a container cannot be written.
///
/// Errors that the sink throws are not wrapped in this type.
public enum ContainerWriteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The compression level is not from 1 to 19.
    case invalidLevel(Int)
    /// The name or the size does not fit into a tar header.
    case invalidHeader(name: String, TarHeaderError)
    /// The member or its frame is too large for the 32-bit size fields of the seek table.
    case tooLarge(name: String)
    /// The contents of the member exceed the given maximum size, in bytes, that readers accept.
    case overLimit(name: String, Int)
    /// The container already has a member with the given name.
    case duplicateName(String)
    /// The container would have more members than readers accept.
    case tooManyMembers
    /// The bundle would have more parents than readers accept.
    case tooManyParents
    /// The container is complete, or an earlier write to the sink failed.
    case writerClosed
    /// zstd reports the given error, usually a lack of memory.
    case zstd(String)

    /// A description of the error in one line.
    public var description: String {
        switch self {
        case .invalidLevel(let level): "compression level \(level) is not from 1 to 19"
        case .invalidHeader(let name, let error): "cannot create a bundle member named \(name): \(error)"
        case .tooLarge(let name): "bundle member \(name) is larger than 4 GiB"
        case .overLimit(let name, let limit):
            "bundle member \(name) would exceed the limit of \(limit >> 20) MiB; pack fewer captures into one bundle"
        case .duplicateName(let name): "two bundle members are named \(name)"
        case .tooManyMembers: "the bundle would have more than \(ContainerReader.maxMemberCount) members"
        case .tooManyParents:
            "the bundle would continue more than \(BundleLayout.maxParentCount) bundles; merge earlier bundles first"
        case .writerClosed: "the bundle is already closed"
        case .zstd(let words): "zstd: \(words)"
        }
    }
}
