import Files

/// Damage in the write-ahead log of a database.
///
/// SQLite ignores a damaged frame and all frames behind it without an error, so that committed changes are lost in silence. It
/// also ignores the frames behind the last commit, which a process leaves that ended within a transaction. These are no loss,
/// whatever their state.
///
/// Source: SQLite, "Database File Format", section 4, "The Write-Ahead Log".
public struct WriteAheadLogFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The offset of the damaged header or frame in the log.
    public let offset: Int
    /// What is wrong.
    public let reason: String

    /// The fault in words.
    public var description: String {
        "the write-ahead log is damaged at byte \(offset): \(reason); changes from there on are lost"
    }

    /// Reads a log and checks each frame.
    ///
    /// - Parameter log: the bytes of the log.
    /// - Returns: nil for a log without damage, or with damage behind the last commit alone. Frames of an earlier use of the log
    ///   are none: SQLite begins again at the front of a log and leaves what is behind. A frame that is cut short is damage in
    ///   any case, because the end of the log is missing.
    public static func find(in log: ByteSource) throws(FileError) -> WriteAheadLogFault? {
        guard log.count > 0 else { return nil }
        let bytes = try log.bytes(at: 0, count: min(log.count, LogHeader.size))
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = LogHeader(bytes.span) else {
            return WriteAheadLogFault(offset: 0, reason: "its header is none")
        }
        var check = FrameCheck(header)
        /// The first frame that SQLite ignores.
        var fault: WriteAheadLogFault?
        var offset = LogHeader.size
        while offset < log.count {
            let bytes = try log.bytes(at: offset, count: min(header.frameSize, log.count - offset))
            let frame = check.next(bytes.span)
            if let reason = frame.reason, fault == nil { fault = WriteAheadLogFault(offset: offset, reason: reason) }
            if let fault, frame.endsTransaction { return fault }
            if frame.isCut { return fault ?? WriteAheadLogFault(offset: offset, reason: "a frame is cut short") }
            offset += bytes.count
        }
        return nil
    }
}

/// The header of a log.
private struct LogHeader {
    static let size = 32
    private static let magic: UInt32 = 0x377F_0682

    let pageSize: Int
    let salts: (UInt32, UInt32)
    let checksum: LogChecksum

    /// Reads a header; nil if its signature, its page size or its checksum is wrong.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.size, bytes.number(at: 0) & ~1 == Self.magic else { return nil }
        pageSize = Int(bytes.number(at: 8))
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        salts = (bytes.number(at: 16), bytes.number(at: 20))
        var checksum = LogChecksum(isBigEndian: bytes.number(at: 0) & 1 == 1)
        checksum.add(bytes.extracting(..<24))
        guard checksum.isWritten(in: bytes, at: 24) else { return nil }
        self.checksum = checksum
    }

    var frameSize: Int { FrameCheck.headerSize + pageSize }
}

/// Checks frames in their order.
private struct FrameCheck {
    static let headerSize = 24

    /// A frame as far as it could be read.
    struct Frame {
        /// The reason why SQLite ignores the frame; nil if it is good or in pieces.
        var reason: String?
        /// Whether the frame ends a transaction of the current use of the log.
        var endsTransaction = false
        /// Whether the frame is the last one, belongs to the current use of the log, and is not whole.
        var isCut = false
    }

    private let header: LogHeader
    private var checksum: LogChecksum
    /// Whether a frame had neither salt of the header, as those of an earlier use of the log have.
    private var isInEarlierUse = false

    init(_ header: LogHeader) {
        self.header = header
        checksum = header.checksum
    }

    /// Checks the next frame.
    ///
    /// Both salts of an earlier use differ from those of the header. If one alone differs, the frame is damaged. So is a frame
    /// without either salt in front of one that has both.
    mutating func next(_ bytes: Span<UInt8>) -> Frame {
        guard bytes.count >= Self.headerSize else { return Frame(isCut: !isInEarlierUse) }
        let matches = (bytes.number(at: 8) == header.salts.0, bytes.number(at: 12) == header.salts.1)
        guard matches != (false, false) else {
            isInEarlierUse = true
            return Frame(reason: "the salts of a frame are wrong")
        }
        // The number of pages of the database, which only the last frame of a transaction states.
        let endsTransaction = bytes.number(at: 4) != 0
        guard bytes.count == header.frameSize else { return Frame(endsTransaction: endsTransaction, isCut: true) }
        guard matches == (true, true) else {
            return Frame(reason: "the salts of a frame are wrong", endsTransaction: endsTransaction)
        }
        checksum.add(bytes.extracting(..<8))
        checksum.add(bytes.extracting(Self.headerSize...))
        let isRight = checksum.isWritten(in: bytes, at: 16)
        return Frame(
            reason: isRight ? nil : "the checksum of a frame is wrong", endsTransaction: endsTransaction)
    }
}

/// The running checksum of a log.
private struct LogChecksum {
    private let isBigEndian: Bool
    private var sums: (UInt32, UInt32) = (0, 0)

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Adds bytes, whose number is a multiple of eight.
    mutating func add(_ bytes: Span<UInt8>) {
        var place = 0
        while place + 8 <= bytes.count {
            sums.0 &+= word(bytes, place) &+ sums.1
            sums.1 &+= word(bytes, place + 4) &+ sums.0
            place += 8
        }
    }

    /// Whether the two sums are at a place.
    func isWritten(in bytes: Span<UInt8>, at place: Int) -> Bool {
        bytes.number(at: place) == sums.0 && bytes.number(at: place + 4) == sums.1
    }

    private func word(_ bytes: Span<UInt8>, _ place: Int) -> UInt32 {
        isBigEndian ? bytes.number(at: place) : bytes.number(at: place).byteSwapped
    }
}

extension Span<UInt8> {
    /// Four bytes as a number, the most significant first.
    fileprivate func number(at place: Int) -> UInt32 {
        UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
            | UInt32(self[place + 3])
    }
}
