import Bytes

/// Cuts a tar archive into members, if it holds nothing but files, folders and symbolic links, with names of any length: as
/// the common programs write what a phone holds.
///
/// All else is left to a reader that knows every tar: hard links, devices, sparse files, headers of other kinds, and whatever
/// is damaged or doubtful. So there is one error, which tells only that the archive is not plain.
public struct PlainTar {
    /// A member in front of its contents.
    public struct Member: Sendable, Equatable {
        /// What it is.
        public enum Kind: Sendable {
            case file, folder, link
        }

        /// What it is.
        public let kind: Kind
        /// The path as stored.
        public let name: [UInt8]
        /// Where a link leads.
        public let target: [UInt8]
        /// How many bytes of contents follow.
        public let size: Int
        /// Where its header stands in the archive.
        public let offset: Int
    }

    /// What comes next.
    public enum Step: Equatable {
        case member(Member)
        /// Contents of the member, by their place in the chunk.
        case contents(Range<Int>)
        /// All contents of the member were there.
        case endOfMember
        /// The mark of the end; what follows is no part of the archive.
        case end
    }

    private enum State {
        case header
        case contents(left: Int, padding: Int)
        /// Of something that tells of the next member.
        case telling(kind: UInt8, left: Int, padding: Int)
        case padding(Int)
        case end
    }

    /// The most bytes that tell of a member.
    private static let mostTelling = 1 << 20

    private var state = State.header
    private var telling: [UInt8] = []
    /// What was told of the next member.
    private var told = ToldOfMember()
    /// Where the next step begins in the chunk.
    private var place = 0
    /// Where the chunk begins in the archive.
    private var chunkStart = 0

    /// Begins at the start of an archive.
    public init() {}

    /// How many bytes of contents that nobody wants, and the zeros that follow, come behind the chunk; a multiple of
    /// ``TarEntry/blockSize``.
    public var bytesToSkip: Int {
        if case .contents(let left, let padding) = state { (left + padding) & -TarEntry.blockSize } else { 0 }
    }

    /// Passes over bytes behind the chunk, which were not read.
    /// - Parameter count: at most ``bytesToSkip``, and a multiple of ``TarEntry/blockSize``.
    public mutating func skip(_ count: Int) {
        guard case .contents(let left, let padding) = state else { return }
        chunkStart += count
        state = .contents(left: max(left - count, 0), padding: padding - max(count - left, 0))
    }

    /// The next step.
    /// - Parameter chunk: the bytes behind those that came before. The chunk stays until there is no step in it. Its size is
    ///   a multiple of ``TarEntry/blockSize``.
    /// - Returns: nil when another chunk is needed.
    /// - Throws: ``UnsupportedTar``.
    public mutating func next(in chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        while place < chunk.count {
            if let step = try step(in: chunk) { return step }
        }
        chunkStart += place
        place = 0
        return nil
    }

    private mutating func step(in chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        switch state {
        case .header: return try takeHeader(of: chunk)
        case .contents(0, let padding):
            state = .padding(padding)
            return .endOfMember
        case .contents(let size, let padding):
            let range = take(size, of: chunk)
            state = .contents(left: size - range.count, padding: padding)
            return .contents(range)
        case .telling(let kind, 0, let padding):
            try told.take(telling, as: kind)
            telling.removeAll(keepingCapacity: true)
            state = .padding(padding)
        case .telling(let kind, let size, let padding):
            let range = take(size, of: chunk)
            telling.append(copying: chunk.extracting(range))
            state = .telling(kind: kind, left: size - range.count, padding: padding)
        case .padding(0): state = .header
        case .padding(let size): state = .padding(size - take(size, of: chunk).count)
        case .end: place = chunk.count
        }
        return nil
    }

    /// Passes over at most `count` bytes of the chunk, and returns their range.
    private mutating func take(_ count: Int, of chunk: Span<UInt8>) -> Range<Int> {
        let start = place
        place += min(count, chunk.count - place)
        return start..<place
    }

    private mutating func takeHeader(of chunk: Span<UInt8>) throws(UnsupportedTar) -> Step? {
        let offset = chunkStart + place
        let range = take(TarEntry.blockSize, of: chunk)
        let block = chunk.extracting(range)
        guard !block.isAllZero else {
            // Something was told of a member that does not come.
            guard told.isEmpty else { throw UnsupportedTar() }
            state = .end
            return .end
        }
        guard let entry = TarEntry(block), entry.dialect != .old, TarEntry.hasNumbers(block) else {
            throw UnsupportedTar()
        }
        let padding = TarEntry.padding(of: entry.size)
        switch entry.kind {
        case TarEntry.Kind.extended, TarEntry.Kind.longName, TarEntry.Kind.longTarget:
            guard entry.size <= Self.mostTelling else { throw UnsupportedTar() }
            state = .telling(kind: entry.kind, left: entry.size, padding: padding)
            return nil
        default:
            let member = try told.member(entry, at: offset)
            told = ToldOfMember()
            state = .contents(left: member.size, padding: TarEntry.padding(of: member.size))
            return .member(member)
        }
    }
}

/// The error for an archive that is incomplete or uses a feature that ``PlainTar`` does not support.
///
/// The error has no details, because another reader then reads the archive again.
public struct UnsupportedTar: Error {}
