/// Where the directory of a zip archive stands, as the end of the archive tells it.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", "End of central directory record" and "Zip64 end of central
/// directory record".
public struct ZipDirectoryEnd: Sendable, Equatable {
    /// How many entries the directory has.
    public let entryCount: Int
    /// The bytes of the directory in the archive.
    public let directory: Range<Int>

    /// How many bytes the record at the end has, if no comment follows.
    public static let smallSize = 22
    /// The most bytes at the end of an archive that are looked at here: all three records, without a comment.
    public static let size = smallSize + Large.locatorSize + Large.recordSize

    /// Reads the end of an archive that has no comment.
    /// - Parameters:
    ///   - tail: the last ``size`` bytes of the archive, or all if it has fewer.
    ///   - count: how many bytes the archive has.
    /// - Returns: nil if the records are not there, contradict each other, tell of several disks, or do not follow the
    ///   directory at once.
    public init?(tail: Span<UInt8>, ofArchiveOf count: Int) {
        let small = tail.count - Self.smallSize
        guard small >= 0, tail.zipNumber32(at: small) == 0x0605_4B50, tail.zipNumber16(at: small + 20) == 0 else {
            return nil
        }
        if Large.hasLocator(tail, before: small) {
            guard let large = Large(tail, before: small) else { return nil }
            self.init(
                entryCount: large.entryCount, size: large.size, start: large.start,
                end: count - tail.count + large.place, recordStart: large.recordStart)
            return
        }
        guard tail.zipNumber32(at: small + 4) == 0, tail.zipNumber16(at: small + 8) == tail.zipNumber16(at: small + 10)
        else { return nil }
        self.init(
            entryCount: tail.zipNumber16(at: small + 10), size: tail.zipNumber32(at: small + 12),
            start: tail.zipNumber32(at: small + 16), end: count - Self.smallSize)
    }

    private init?(entryCount: Int, size: Int, start: Int, end: Int, recordStart: Int? = nil) {
        guard end >= 0, start <= end, size == end - start, recordStart ?? end == end else { return nil }
        self.entryCount = entryCount
        directory = start..<end
    }
}

/// What stands in front of the end where numbers have no room in 16 or 32 bits.
private struct Large {
    static let locatorSize = 20
    static let recordSize = 56

    /// Where the record is in the tail.
    let place: Int
    /// Where the locator says that the record is in the archive.
    let recordStart: Int
    let entryCount: Int
    let size: Int
    let start: Int

    /// Returns whether a locator is in front of the record of the end, which begins at `end`.
    static func hasLocator(_ tail: Span<UInt8>, before end: Int) -> Bool {
        let locator = end - locatorSize
        return locator >= 0 && tail.zipNumber32(at: locator) == 0x0706_4B50
    }

    /// Reads the record and its locator. Returns `nil` if they are not complete, or contradict each other.
    init?(_ tail: Span<UInt8>, before end: Int) {
        let locator = end - Self.locatorSize
        place = locator - Self.recordSize
        guard place >= 0, tail.zipNumber32(at: place) == 0x0606_4B50,
            tail.zipNumber64(at: place + 4) == Self.recordSize - 12,
            tail.zipNumber32(at: locator + 4) == 0, tail.zipNumber32(at: locator + 16) <= 1,
            tail.zipNumber32(at: place + 16) == 0, tail.zipNumber32(at: place + 20) == 0,
            let count = tail.zipNumber64(at: place + 32), count == tail.zipNumber64(at: place + 24),
            let size = tail.zipNumber64(at: place + 40), let start = tail.zipNumber64(at: place + 48),
            let recordStart = tail.zipNumber64(at: locator + 8)
        else { return nil }
        (entryCount, self.size, self.start, self.recordStart) = (count, size, start, recordStart)
    }
}

extension Span<UInt8> {
    /// A number of 16 bits; the caller has checked that it is there.
    func zipNumber16(at offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }

    /// A number of 32 bits; the caller has checked that it is there.
    func zipNumber32(at offset: Int) -> Int { zipNumber16(at: offset) | zipNumber16(at: offset + 2) << 16 }

    /// A number of 64 bits, if it is no larger than archives are.
    func zipNumber64(at offset: Int) -> Int? {
        let (low, high) = (zipNumber32(at: offset), zipNumber32(at: offset + 4))
        return high < 1 << 28 ? low | high << 32 : nil
    }
}
