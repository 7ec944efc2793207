import Files

/// Damage in the write-ahead log of a database.
///
/// SQLite ignores a damaged frame and all frames behind it without an error, so that changes are lost in silence.
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
    /// - Returns: nil for a log without damage, also one that is empty, or that ends in frames of an earlier use: SQLite begins
    ///   again at the front of a log and leaves what is behind.
    /// - Throws: `FileError`.
    public static func find(in log: ByteSource) throws(FileError) -> WriteAheadLogFault? {
        guard log.count > 0 else { return nil }
        let bytes = try log.bytes(at: 0, count: min(log.count, LogHeader.size))
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = LogHeader(bytes.span) else {
            return WriteAheadLogFault(offset: 0, reason: "its header is none")
        }
        var check = FrameCheck(header)
        var offset = LogHeader.size
        while offset < log.count {
            let frame = try log.bytes(at: offset, count: min(header.frameSize, log.count - offset))
            if let reason = check.fault(of: frame.span) {
                return WriteAheadLogFault(offset: check.first ?? offset, reason: reason)
            }
            if check.isInEarlierUse, check.first == nil { check.first = offset }
            offset += frame.count
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

    private let header: LogHeader
    private var checksum: LogChecksum
    /// Whether frames of an earlier use of the log were reached.
    private(set) var isInEarlierUse = false
    /// Where the first of them is.
    var first: Int?

    init(_ header: LogHeader) {
        self.header = header
        checksum = header.checksum
    }

    /// What is wrong with the next frame; nil if it is good, or of an earlier use.
    ///
    /// Both salts of an earlier use are others. One that differs alone was damaged, and so were frames in front of one that has
    /// the salts of the header.
    mutating func fault(of frame: Span<UInt8>) -> String? {
        guard frame.count >= Self.headerSize else { return isInEarlierUse ? nil : "a frame is cut short" }
        let matches = (frame.number(at: 8) == header.salts.0, frame.number(at: 12) == header.salts.1)
        guard matches != (false, false) else {
            isInEarlierUse = true
            return nil
        }
        guard matches == (true, true), !isInEarlierUse else { return "the salts of a frame are wrong" }
        guard frame.count == header.frameSize else { return "a frame is cut short" }
        checksum.add(frame.extracting(..<8))
        checksum.add(frame.extracting(Self.headerSize...))
        return checksum.isWritten(in: frame, at: 16) ? nil : "the checksum of a frame is wrong"
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
