/// The records at the end of a zip archive, which locate the central directory.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", "End of central directory record" and "Zip64 end of central
/// directory record".
public struct ZipDirectoryEnd: Sendable, Equatable {
    /// The number of entries in the directory.
    public let entryCount: Int
    /// The range of the directory in the archive.
    public let directory: Range<Int>

    /// The size of the end record without a comment, in bytes.
    public static let endRecordSize = 22
    /// The total size of the three records without a comment, in bytes.
    public static let maximumSize = endRecordSize + Zip64End.locatorSize + Zip64End.recordSize

    /// Parses the end of an archive without a comment.
    ///
    /// Returns `nil` if the records are missing, inconsistent, refer to several disks, or do not follow the directory
    /// directly.
    ///
    /// - Parameters:
    ///   - tail: The last ``maximumSize`` bytes of the archive, or all bytes if it is smaller.
    ///   - count: The size of the archive, in bytes.
    public init?(tail: Span<UInt8>, ofArchiveOf count: Int) {
        let endRecord = tail.count - Self.endRecordSize
        guard endRecord >= 0, tail.zipNumber32(at: endRecord) == 0x0605_4B50, tail.zipNumber16(at: endRecord + 20) == 0
        else {
            return nil
        }
        if Zip64End.hasLocator(tail, before: endRecord) {
            guard let zip64 = Zip64End(tail, before: endRecord) else { return nil }
            self.init(
                entryCount: zip64.entryCount, size: zip64.directorySize, start: zip64.directoryStart,
                end: count - tail.count + zip64.index, recordStart: zip64.recordStart)
            return
        }
        guard tail.zipNumber32(at: endRecord + 4) == 0,
            tail.zipNumber16(at: endRecord + 8) == tail.zipNumber16(at: endRecord + 10)
        else { return nil }
        self.init(
            entryCount: tail.zipNumber16(at: endRecord + 10), size: tail.zipNumber32(at: endRecord + 12),
            start: tail.zipNumber32(at: endRecord + 16), end: count - Self.endRecordSize)
    }

    private init?(entryCount: Int, size: Int, start: Int, end: Int, recordStart: Int? = nil) {
        guard end >= 0, start <= end, size == end - start, recordStart ?? end == end else { return nil }
        self.entryCount = entryCount
        directory = start..<end
    }
}

/// The Zip64 record and its locator, which are needed if a number does not fit into the end record.
private struct Zip64End {
    static let locatorSize = 20
    static let recordSize = 56

    /// The index of the record in the tail.
    let index: Int
    /// The offset of the record in the archive according to the locator.
    let recordStart: Int
    let entryCount: Int
    let directorySize: Int
    let directoryStart: Int

    /// Returns whether a Zip64 locator precedes the end record that begins at `end`.
    static func hasLocator(_ tail: Span<UInt8>, before end: Int) -> Bool {
        let locator = end - locatorSize
        return locator >= 0 && tail.zipNumber32(at: locator) == 0x0706_4B50
    }

    /// Parses the record and its locator, or returns `nil` if they are incomplete or inconsistent.
    init?(_ tail: Span<UInt8>, before end: Int) {
        let locator = end - Self.locatorSize
        index = locator - Self.recordSize
        guard index >= 0, tail.zipNumber32(at: index) == 0x0606_4B50,
            tail.zipNumber64(at: index + 4) == Self.recordSize - 12,
            tail.zipNumber32(at: locator + 4) == 0, tail.zipNumber32(at: locator + 16) <= 1,
            tail.zipNumber32(at: index + 16) == 0, tail.zipNumber32(at: index + 20) == 0,
            let count = tail.zipNumber64(at: index + 32), count == tail.zipNumber64(at: index + 24),
            let size = tail.zipNumber64(at: index + 40), let start = tail.zipNumber64(at: index + 48),
            let recordStart = tail.zipNumber64(at: locator + 8)
        else { return nil }
        (entryCount, self.directorySize, self.directoryStart, self.recordStart) = (count, size, start, recordStart)
    }
}

extension Span<UInt8> {
    /// Returns the 16-bit little-endian number at `offset`, which must be in bounds.
    func zipNumber16(at offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }

    /// Returns the 32-bit little-endian number at `offset`, which must be in bounds.
    func zipNumber32(at offset: Int) -> Int { zipNumber16(at: offset) | zipNumber16(at: offset + 2) << 16 }

    /// Returns the 64-bit little-endian number at `offset`, or `nil` if it exceeds 60 bits.
    func zipNumber64(at offset: Int) -> Int? {
        let (low, high) = (zipNumber32(at: offset), zipNumber32(at: offset + 4))
        return high < 1 << 28 ? low | high << 32 : nil
    }
}
