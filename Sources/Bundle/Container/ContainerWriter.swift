import Bytes
import CZstd
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

// MARK: - FrameEncoder

/// An encoder that compresses members of a container into independent zstd frames with content sizes and checksums.
///
/// The output depends only on the level, the version of zstd and the input. Use an encoder on only one thread at a
/// time.
public struct FrameEncoder: ~Copyable, @unchecked Sendable {
    /// The accepted compression levels.
    ///
    /// Higher levels need more memory than decoders allow by default.
    public static let levels = 1...19

    /// The highest level for which records are compressed with the settings of level 1.
    ///
    /// A record repeats long parts of the previous record, and level 1 of zstd searches only for such long matches.
    /// Levels 2 to 5 also find short matches, but compress records more slowly and into larger frames.
    private static let lastFastLevel = 5
    /// The base-2 logarithm of the size of the match table of level 1.
    ///
    /// The table fits into the first-level cache of a processor. A larger table does not find more matches in records.
    private static let fastHashLog: Int32 = 13

    private let context: OpaquePointer
    /// Creates an encoder with a compression level from 1 to 19.
    public init(level: Int) throws(ContainerWriteError) {
        guard Self.levels.contains(level) else { throw .invalidLevel(level) }
        guard let context = ZSTD_createCCtx() else { throw .zstd("no memory") }
        self.context = context
        // These calls cannot fail, because the values are valid and no frame has been started.
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
    public func compressMember(
        named name: String, contents: Span<UInt8>
    ) throws(ContainerWriteError) -> EncodedMember {
        let header: TarHeader
        do {
            header = try TarHeader(name: name, size: contents.count)
        } catch {
            throw .invalidHeader(name: name, error)
        }
        guard header.memberSize <= UInt32.max else { throw .tooLarge(name: name) }
        var bytes = header.encoded()
        bytes.reserveCapacity(header.memberSize)
        bytes.append(copying: contents)
        bytes += repeatElement(0, count: header.padding)
        return EncodedMember(
            name: name, size: contents.count, sha256: SHA256.hash(contents), frame: try compress(bytes.span))
    }

    /// Compresses the end of the archive, which consists of two blocks of zeros, into a frame.
    public func compressArchiveEnd() throws(ContainerWriteError) -> EncodedFrame {
        try compress([UInt8](repeating: 0, count: 2 * TarHeader.blockSize).span)
    }

    private func compress(_ bytes: Span<UInt8>) throws(ContainerWriteError) -> EncodedFrame {
        var result = 0
        let frame = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { output, count in
            result = bytes.withUnsafeBytes { input in
                ZSTD_compress2(context, output.baseAddress, output.count, input.baseAddress, input.count)
            }
            count = ZSTD_isError(result) == 0 ? result : 0
        }
        guard ZSTD_isError(result) == 0 else { throw .zstd(String(cString: ZSTD_getErrorName(result))) }
        return EncodedFrame(bytes: frame, contentSize: bytes.count)
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

// Sendable, because the pointer is not shared with other values.
