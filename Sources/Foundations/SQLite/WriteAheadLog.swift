import Files

/// Damage in the write-ahead log of a database.
///
/// SQLite ignores a damaged frame and all later frames without an error, so that committed changes are lost silently.
/// Damage after the last commit is not reported, because no committed change is lost.
///
/// Source: SQLite, "Database File Format", section 4, "The Write-Ahead Log".
public struct WriteAheadLogFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The offset of the damaged header or frame in the log.
    public let offset: Int
    /// The description of the damage.
    public let reason: String

    /// The error message.
    public var description: String {
        "the write-ahead log is damaged at byte \(offset): \(reason); changes from there on are lost"
    }

    /// Returns the first damage that affects a committed change, or `nil` if there is none.
    ///
    /// Frames from before the last reset of the log do not count as damage, because SQLite overwrites a log from its
    /// beginning. A truncated frame from after the reset always counts as damage, because the end of the log is missing.
    public static func find(in log: ByteSource) throws(FileError) -> WriteAheadLogFault? {
        guard log.count > 0 else { return nil }
        let bytes = try log.bytes(at: 0, count: min(log.count, LogHeader.size))
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = LogHeader(bytes.span) else {
            return WriteAheadLogFault(offset: 0, reason: "its header is none")
        }
        var frameCheck = FrameCheck(header)
        // The fault of the first frame that SQLite ignores.
        var fault: WriteAheadLogFault?
        var offset = LogHeader.size
        while offset < log.count {
            let bytes = try log.bytes(at: offset, count: min(header.frameSize, log.count - offset))
            let frame = frameCheck.next(bytes.span)
            if let reason = frame.faultReason, fault == nil {
                fault = WriteAheadLogFault(offset: offset, reason: reason)
            }
            if let fault, frame.endsTransaction { return fault }
            if frame.isTruncated { return fault ?? WriteAheadLogFault(offset: offset, reason: "a frame is cut short") }
            offset += bytes.count
        }
        return nil
    }
}

/// The pages of a database in a write-ahead log whose database file is missing.
///
/// SQLite deletes such a log. If the log was begun together with the database, it contains all pages of the database.
/// Otherwise, it contains the pages that were changed last.
public struct DetachedWriteAheadLog: Sendable {
    /// A new file with the pages that the log contains, or `nil` if the first page, which contains the schema, is missing
    /// or if the database would be too large.
    public let database: SpoolFile?
    /// The number of pages of the database after the last committed transaction.
    public let pageCount: Int
    /// The numbers of the pages that the log does not contain, in ascending order.
    public let missingPages: [ClosedRange<Int>]
    private let pageSize: Int

    /// Writes the pages of all committed transactions in `log` to a new file of at most `sizeLimit` bytes.
    ///
    /// Returns `nil` if the log has no committed transaction. Frames from the first damaged one on are ignored, as by
    /// SQLite.
    public init?(in log: ByteSource, copiedTo folder: String, sizeLimit: Int) throws(FileError) {
        let start = try log.bytes(at: 0, count: min(log.count, LogHeader.size))
        guard let header = LogHeader(start.span) else { return nil }
        let committed = try Self.committedPart(of: log, header)
        guard committed.pageCount > 0 else { return nil }
        (pageCount, pageSize) = (committed.pageCount, header.pageSize)
        guard committed.pageCount <= sizeLimit / header.pageSize else {
            (database, missingPages) = (nil, [])
            return
        }
        let copy = try SpoolFile(in: folder)
        let pages = try Self.copyPages(of: committed, in: log, header, to: copy)
        missingPages = Self.gaps(in: pages.sorted(), through: pageCount)
        if missingPages.last?.upperBound == pageCount {
            // The size of the file is the size of the database.
            try copy.write([0].span, at: pageCount * pageSize - 1)
        }
        database = missingPages.first?.lowerBound == 1 ? nil : copy
    }

    /// The ranges of the bytes in ``database`` that are missing.
    public var missingRanges: [Range<Int>] {
        missingPages.map { ($0.lowerBound - 1) * pageSize..<$0.upperBound * pageSize }
    }

    /// The numbers of the missing pages as text, such as `pages 2 and 5 to 7`, of which only the first are listed.
    public var missingPagesText: String {
        let first = missingPages.prefix(Self.listedRangeCount)
            .map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        let listed = first.joined(separator: ", ")
        let others = missingPages.dropFirst(first.count).reduce(0) { $0 + $1.count }
        let word = missingPages.count == 1 && missingPages.first?.count == 1 ? "page" : "pages"
        return "\(word) \(listed)" + (others > 0 ? " and \(others) more" : "")
    }

    /// The maximum number of ranges in ``missingPagesText``.
    private static let listedRangeCount = 10

    /// Returns the ranges of the numbers from 1 to `last` that `pages` does not contain.
    private static func gaps(in pages: [Int], through last: Int) -> [ClosedRange<Int>] {
        var gaps: [ClosedRange<Int>] = []
        var next = 1
        for page in pages + [last + 1] {
            if next < page { gaps.append(next...page - 1) }
            next = page + 1
        }
        return gaps
    }

    /// The committed transactions of a log.
    private struct CommittedPart {
        /// The offset of the end of the last transaction.
        var end = LogHeader.size
        /// The size of the database after the last transaction, in pages.
        var pageCount = 0
    }

    private static func committedPart(of log: ByteSource, _ header: LogHeader) throws(FileError) -> CommittedPart {
        var frameCheck = FrameCheck(header)
        var committed = CommittedPart()
        var offset = LogHeader.size
        while offset + header.frameSize <= log.count {
            let bytes = try log.bytes(at: offset, count: header.frameSize)
            let frame = frameCheck.next(bytes.span)
            if frame.isIgnored { return committed }
            offset += header.frameSize
            if frame.endsTransaction {
                committed = CommittedPart(end: offset, pageCount: Int(bytes.span.number(at: 4)))
            }
        }
        return committed
    }

    /// Writes the pages to `database`, and returns their numbers.
    private static func copyPages(
        of committed: CommittedPart, in log: ByteSource, _ header: LogHeader, to database: SpoolFile
    ) throws(FileError) -> Set<Int> {
        var pages: Set<Int> = []
        var offset = LogHeader.size
        while offset < committed.end {
            let bytes = try log.bytes(at: offset, count: header.frameSize)
            // The file can be truncated meanwhile.
            if bytes.count < header.frameSize { break }
            offset += header.frameSize
            let page = Int(bytes.span.number(at: 0))
            if page < 1 || page > committed.pageCount { continue }
            pages.insert(page)
            try database.write(bytes.span.extracting(FrameCheck.headerSize...), at: (page - 1) * header.pageSize)
        }
        return pages
    }
}

private struct LogHeader {
    static let size = 32
    private static let magic: UInt32 = 0x377F_0682

    let pageSize: Int
    let salts: (UInt32, UInt32)
    let checksum: LogChecksum

    /// Parses a header, or returns `nil` if its signature, page size or checksum is invalid.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size, bytes.number(at: 0) & ~1 == Self.magic else { return nil }
        pageSize = Int(bytes.number(at: 8))
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        salts = (bytes.number(at: 16), bytes.number(at: 20))
        var checksum = LogChecksum(isBigEndian: bytes.number(at: 0) & 1 == 1)
        checksum.add(bytes.extracting(..<24))
        guard checksum.isStored(in: bytes, at: 24) else { return nil }
        self.checksum = checksum
    }

    var frameSize: Int { FrameCheck.headerSize + pageSize }
}

/// A checker for the frames of a log, which must be checked in sequence.
private struct FrameCheck {
    static let headerSize = 24

    struct Frame {
        /// The reason why SQLite ignores the frame, or `nil` if the frame is valid or truncated.
        var faultReason: String?
        /// Whether the frame ends a transaction and was written after the last reset of the log.
        var endsTransaction = false
        /// Whether the frame is truncated and was written after the last reset of the log.
        var isTruncated = false
        /// Whether SQLite ignores the frame and all later frames.
        var isIgnored: Bool { faultReason != nil || isTruncated }
    }

    private let header: LogHeader
    private var checksum: LogChecksum
    /// Whether a previous frame was written before the last reset of the log.
    ///
    /// Both salts of such a frame differ from the salts in the header.
    private var hasReachedOldFrames = false

    init(_ header: LogHeader) {
        self.header = header
        checksum = header.checksum
    }

    /// Checks the next frame of the log.
    ///
    /// A frame is damaged if its checksum is wrong, or if only one of its salts differs from the header. If both salts
    /// differ, the frame is damaged only if the salts of a later frame match the header.
    mutating func next(_ bytes: Span<UInt8>) -> Frame {
        guard bytes.count >= Self.headerSize else { return Frame(isTruncated: !hasReachedOldFrames) }
        let matches = (bytes.number(at: 8) == header.salts.0, bytes.number(at: 12) == header.salts.1)
        guard matches != (false, false) else {
            hasReachedOldFrames = true
            return Frame(faultReason: "the salts of a frame are wrong")
        }
        // This field is the size of the database in pages in the last frame of a transaction, and 0 in all other
        // frames.
        let endsTransaction = bytes.number(at: 4) != 0
        guard bytes.count == header.frameSize else { return Frame(endsTransaction: endsTransaction, isTruncated: true) }
        guard matches == (true, true) else {
            return Frame(faultReason: "the salts of a frame are wrong", endsTransaction: endsTransaction)
        }
        checksum.add(bytes.extracting(..<8))
        checksum.add(bytes.extracting(Self.headerSize...))
        let isValid = checksum.isStored(in: bytes, at: 16)
        return Frame(
            faultReason: isValid ? nil : "the checksum of a frame is wrong", endsTransaction: endsTransaction)
    }
}

/// The cumulative checksum of a log.
private struct LogChecksum {
    let isBigEndian: Bool
    var sums: (UInt32, UInt32) = (0, 0)

    /// Adds `bytes` to the checksum.
    ///
    /// The number of bytes must be a multiple of 8.
    mutating func add(_ bytes: Span<UInt8>) {
        var index = 0
        while index + 8 <= bytes.count {
            sums.0 &+= word(bytes, index) &+ sums.1
            sums.1 &+= word(bytes, index + 4) &+ sums.0
            index += 8
        }
    }

    /// Returns whether the checksum is stored in `bytes` at `index`.
    func isStored(in bytes: Span<UInt8>, at index: Int) -> Bool {
        bytes.number(at: index) == sums.0 && bytes.number(at: index + 4) == sums.1
    }

    private func word(_ bytes: Span<UInt8>, _ index: Int) -> UInt32 {
        isBigEndian ? bytes.number(at: index) : bytes.number(at: index).byteSwapped
    }
}

extension Span<UInt8> {
    /// Returns the four bytes at `index` as a big-endian number.
    fileprivate func number(at index: Int) -> UInt32 {
        UInt32(self[index]) << 24 | UInt32(self[index + 1]) << 16 | UInt32(self[index + 2]) << 8
            | UInt32(self[index + 3])
    }
}
