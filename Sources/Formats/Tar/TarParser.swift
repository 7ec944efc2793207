import Bytes

/// An incremental parser for tar archives that contain only files, folders and symbolic links.
///
/// These types of entries are sufficient for the files of a phone. Hard links, devices, sparse files, unknown headers
/// and any damage cause an ``UnsupportedTar`` error, after which another reader has to read the archive.
public struct TarParser {
    /// The header of a member.
    public struct Member: Sendable, Equatable {
        /// The file type of a member.
        public enum Kind: Sendable {
            case file, folder, link
        }

        /// The file type.
        public let kind: Kind
        /// The path as stored in the archive.
        public let name: [UInt8]
        /// The target of a symbolic link, or an empty array for other members.
        public let target: [UInt8]
        /// The size of the contents, in bytes.
        public let size: Int
        /// The offset of the header in the archive.
        public let offset: Int
    }

    /// The next element of the archive.
    public enum Step: Equatable {
        /// The header of a member.
        case member(Member)
        /// The range of a part of the contents, relative to the chunk.
        case contents(Range<Int>)
        /// The end of the contents of the member.
        case endOfMember
        /// The end of the archive, after which all bytes are ignored.
        case end
    }

    private enum State {
        case header
        case contents(left: Int, padding: Int)
        case extendedHeader(kind: UInt8, left: Int, padding: Int)
        case padding(Int)
        case end
    }

    /// The maximum size of an entry that describes the next member, in bytes.
    private static let maximumExtendedHeaderSize = 1 << 20

    private var state = State.header
    private var extendedHeader: [UInt8] = []
    private var pendingFields = PendingEntryFields()
    /// The index of the next byte in the chunk.
    private var position = 0
    /// The offset of the chunk in the archive.
    private var chunkStart = 0

    /// Creates a parser for an archive.
    public init() {}

    /// The number of bytes after the chunk that can be skipped if the contents of the member are not needed.
    ///
    /// The number includes the padding and is a multiple of ``TarEntry/blockSize``.
    public var bytesToSkip: Int {
        if case .contents(let left, let padding) = state { (left + padding) & -TarEntry.blockSize } else { 0 }
    }

    /// Skips `count` bytes after the chunk.
    ///
    /// `count` must be a multiple of ``TarEntry/blockSize`` and must not exceed ``bytesToSkip``.
    public mutating func skip(_ count: Int) {
        guard case .contents(let left, let padding) = state else { return }
        chunkStart += count
        state = .contents(left: max(left - count, 0), padding: padding - max(count - left, 0))
    }

    /// Returns the next element in a chunk of the archive, or `nil` if the next chunk is needed.
    ///
    /// The same chunk must be passed until the method returns `nil`. Its size must be a multiple of
    /// ``TarEntry/blockSize``.
    public mutating func next(in chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        while position < chunk.count {
            if let step = try step(in: chunk) { return step }
        }
        chunkStart += position
        position = 0
        return nil
    }

    private mutating func step(in chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        switch state {
        case .header: return try readHeader(in: chunk)
        case .contents(0, let padding):
            state = .padding(padding)
            return .endOfMember
        case .contents(let size, let padding):
            let range = advance(by: size, in: chunk)
            state = .contents(left: size - range.count, padding: padding)
            return .contents(range)
        case .extendedHeader(let kind, 0, let padding):
            try pendingFields.add(extendedHeader, from: kind)
            extendedHeader.removeAll(keepingCapacity: true)
            state = .padding(padding)
        case .extendedHeader(let kind, let size, let padding):
            let range = advance(by: size, in: chunk)
            extendedHeader.append(copying: chunk.extracting(range))
            state = .extendedHeader(kind: kind, left: size - range.count, padding: padding)
        case .padding(0): state = .header
        case .padding(let size): state = .padding(size - advance(by: size, in: chunk).count)
        case .end: position = chunk.count
        }
        return nil
    }

    /// Advances by at most `count` bytes of the chunk and returns their range.
    private mutating func advance(by count: Int, in chunk: Span<UInt8>) -> Range<Int> {
        let start = position
        position += min(count, chunk.count - position)
        return start..<position
    }

    private mutating func readHeader(in chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        let offset = chunkStart + position
        let range = advance(by: TarEntry.blockSize, in: chunk)
        let block = chunk.extracting(range)
        guard !block.isAllZero else {
            // An extended header without a member is not valid.
            guard pendingFields.isEmpty else { throw UnsupportedTar() }
            state = .end
            return .end
        }
        guard let entry = TarEntry(block), entry.dialect != .old, TarEntry.hasNumbers(block) else {
            throw UnsupportedTar()
        }
        let padding = TarEntry.padding(of: entry.size)
        switch entry.kind {
        case TarEntry.Kind.extendedHeader, TarEntry.Kind.longName, TarEntry.Kind.longTarget:
            guard entry.size <= Self.maximumExtendedHeaderSize else { throw UnsupportedTar() }
            state = .extendedHeader(kind: entry.kind, left: entry.size, padding: padding)
            return nil
        default:
            let member = try pendingFields.member(entry, at: offset)
            pendingFields = PendingEntryFields()
            state = .contents(left: member.size, padding: TarEntry.padding(of: member.size))
            return .member(member)
        }
    }
}

/// The error for an archive that is incomplete or uses a feature that ``TarParser`` does not support.
///
/// The error has no details, because another reader then reads the archive again.
public struct UnsupportedTar: Error {}
