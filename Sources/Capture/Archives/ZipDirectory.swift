import Bytes
import Files

/// The central directory of a zip archive, which libarchive uses to find the members.
///
/// Some archives have a wrong directory although all members are intact. The macOS Finder writes no Zip64 records, so that
/// offsets in archives of more than 4 GiB are truncated to 32 bits. Such an archive is read from front to back instead.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", sections 4.3.7, 4.3.12 and 4.3.16.
struct ZipDirectory {
    /// The number of entries that the end record states, modulo 2¹⁶.
    ///
    /// The number is `nil` if the file does not end with the end record and its comment, or if only a Zip64 record states
    /// the number.
    private(set) var statedEntryCount: UInt16?
    /// The number of entries that were found, or `nil` if the directory is missing or a Zip64 record describes it.
    private(set) var entryCount: Int?
    /// Whether the file is the last part of an archive that was split.
    private(set) var isLastPart = false
    /// Whether the directory leads to the local headers of all members.
    private var isConsistent = true
    /// The offset of the first local header from which the archive must be read from front to back, or `nil` if the
    /// directory leads to all members or no header was found.
    private(set) var sequentialStart: Int?
    /// The members that can be inflated without libarchive, sorted by the offsets of their contents.
    private(set) var plainMembers: [PlainMember] = []

    /// A member that is stored or deflated, and is not encrypted.
    struct PlainMember: Sendable {
        /// The range of the contents in the file.
        let range: Range<Int>
        let size: Int
        let checksum: UInt32
        let isDeflated: Bool
        /// Whether the checksum and the sizes are repeated after the contents.
        let hasDescriptor: Bool

        /// The maximum size of a descriptor in bytes.
        static let maxDescriptorSize = 16

        /// Returns whether `bytes`, which follow the contents, begin with a descriptor that matches the directory entry.
        func isDescriptor(_ bytes: Span<UInt8>) -> Bool {
            var expected: [UInt8] = []
            for number in [UInt64(checksum), UInt64(range.count), UInt64(size)] {
                expected += [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
            }
            let signed = [0x50, 0x4B, 0x07, 0x08] + expected
            return bytes.starts(with: expected.span) || bytes.starts(with: signed.span)
        }
    }

    private static let endRecordSize = 22
    private static let endSignature: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
    private static let locatorSize = 20
    private static let locatorSignature: [UInt8] = [0x50, 0x4B, 0x06, 0x07]
    private static let entrySize = 46
    private static let entrySignature: [UInt8] = [0x50, 0x4B, 0x01, 0x02]
    private static let localSignature: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
    private static let localHeaderSize = 30
    /// The size of the pieces in which local headers are read, which contain the headers of several small members.
    private static let localPieceSize = 32 << 10
    private static let pieceSize = 1 << 20

    private init() {}

    /// Finds the directory of the archive in `source`, and compares at most `entryLimit` entries with the local headers.
    ///
    /// Returns `nil` if the file has no end record. libarchive reads such an archive from front to back itself.
    init?(of source: ByteSource, entryLimit: Int) throws(FileError) {
        let size = min(source.count, Self.endRecordSize + Int(UInt16.max))
        let tail = try source.bytes(at: source.count - size, count: size)
        let starts = stride(from: tail.count - Self.endRecordSize, through: 0, by: -1).lazy
        guard let start = starts.first(where: { tail[$0...].starts(with: Self.endSignature) }) else { return nil }
        // A comment of any length can follow the record.
        for start in starts where tail[start...].starts(with: Self.endSignature) {
            guard start + Self.endRecordSize + tail.number(at: start + 20, size: 2) == tail.count else { continue }
            statedEntryCount = UInt16(exactly: tail.number(at: start + 10, size: 2)).flatMap { $0 == .max ? nil : $0 }
            break
        }
        isLastPart = ![0, Int(UInt16.max)].contains(tail.number(at: start + 4, size: 2))
        let usesZip64 =
            start >= Self.locatorSize && tail[(start - Self.locatorSize)...].starts(with: Self.locatorSignature)
        guard !usesZip64 else {
            plainMembers = try Self.plainMembers(inZip64: tail[start...], of: source, limit: entryLimit)
            return
        }
        let end = source.count - size + start
        let first = end - tail.number(at: start + 12, size: 4)
        isConsistent = first >= 0
        if isConsistent {
            try compareEntries(
                in: first..<end, of: source, shift: first - tail.number(at: start + 16, size: 4), limit: entryLimit)
        }
        if !isConsistent { sequentialStart = try Self.firstMember(in: source) }
    }

    /// Returns the offset of the first local header, or `nil` if there is none after a prefix of at most
    /// `InputLimits.zipPrefixSize` bytes.
    ///
    /// A prefix is a program that unpacks the archive, or the output of the program that made it. Bytes in it that only
    /// look like the signature are skipped, because the fields after them have no possible values.
    private static func firstMember(in source: ByteSource) throws(FileError) -> Int? {
        firstMember(in: try source.bytes(at: 0, count: min(source.count, InputLimits.zipPrefixSize)))
    }

    /// Returns the offset of the first local header in the first bytes of a file, or `nil` if they contain none.
    static func firstMember(in bytes: [UInt8]) -> Int? {
        var start = 0
        while let found = bytes.span.firstIndex(of: localSignature[0], from: start) {
            if bytes[found...].starts(with: localSignature), found == 0 || isLocalHeader(bytes[found...]) {
                return found
            }
            start = found + 1
        }
        return nil
    }

    /// Returns whether a file ends as a zip archive does.
    static func isAtEnd(of source: ByteSource) throws(FileError) -> Bool {
        try ZipDirectory(of: source, entryLimit: 0)?.statedEntryCount != nil
    }

    /// Returns whether the version, the compression method and the name after the signature of a local header are
    /// possible.
    private static func isLocalHeader(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count > localHeaderSize else { return false }
        let header = Array(bytes.prefix(localHeaderSize))
        let nameSize = header.number(at: 26, size: 2)
        let name = bytes.dropFirst(localHeaderSize).prefix(nameSize)
        return header[4] <= maximumVersion && header.number(at: 8, size: 2) < 100 && name.count == nameSize
            && !name.isEmpty && !name.contains(0)
    }

    /// The highest version of the format, times 10, that an archive can require.
    private static let maximumVersion = 63

    /// Returns the members of a Zip64 archive if the end record `record` states the location of its directory.
    private static func plainMembers(
        inZip64 record: ArraySlice<UInt8>, of source: ByteSource, limit: Int
    ) throws(FileError) -> [PlainMember] {
        let (size, first) = (Array(record).number(at: 12, size: 4), Array(record).number(at: 16, size: 4))
        guard size < UInt32.max, first < UInt32.max, first + size <= source.count else { return [] }
        var directory = ZipDirectory()
        try directory.compareEntries(in: first..<first + size, of: source, shift: 0, limit: limit)
        return directory.isConsistent ? directory.plainMembers : []
    }

    /// Counts the entries in `range`, and checks that a local header is at the offset that each entry states.
    ///
    /// The offsets are relative to `shift`, which is the number of bytes before the archive in the file.
    private mutating func compareEntries(
        in range: Range<Int>, of source: ByteSource, shift: Int, limit: Int
    ) throws(FileError) {
        var position = range.lowerBound
        var count = 0
        var piece: [UInt8] = []
        var pieceStart = position
        var locals: (start: Int, bytes: [UInt8]) = (0, [])
        isConsistent = shift >= 0
        while position < range.upperBound, count <= limit {
            if position + Self.entrySize > pieceStart + piece.count {
                piece = try source.bytes(at: position, count: min(Self.pieceSize, range.upperBound - position))
                pieceStart = position
            }
            let index = position - pieceStart
            guard piece.count - index >= Self.entrySize, piece[index...].starts(with: Self.entrySignature) else {
                // Other records may follow the entries, such as a signature.
                isConsistent = isConsistent && count > 0
                break
            }
            count += 1
            let offset = piece.number(at: index + 42, size: 4)
            // A larger offset is in a Zip64 field.
            if isConsistent, offset != UInt32.max {
                let start = shift + offset
                if start < locals.start || start + Self.localHeaderSize > locals.start + locals.bytes.count {
                    locals = (start, try source.bytes(at: start, count: Self.localPieceSize))
                }
                let header = locals.bytes[(start - locals.start)...]
                isConsistent = header.starts(with: Self.localSignature)
                if let member = PlainMember(
                    entry: piece[index...], local: header.prefix(Self.localHeaderSize), at: start),
                    member.range.upperBound <= range.lowerBound
                {
                    plainMembers.append(member)
                }
            }
            position += Self.entrySize
            for field in [28, 30, 32] { position += piece.number(at: index + field, size: 2) }
        }
        entryCount = count
        // The entries of most archives are already sorted.
        plainMembers.sort { $0.range.lowerBound < $1.range.lowerBound }
    }
}

extension ZipDirectory.PlainMember {
    /// Creates a member from its directory entry and its local header, which begins at `offset`.
    ///
    /// Returns `nil` if the member is not a regular file, is encrypted, has another compression, or needs Zip64 fields, or if the headers differ.
    fileprivate init?(entry: ArraySlice<UInt8>, local: ArraySlice<UInt8>, at offset: Int) {
        let (entry, local) = (Array(entry.prefix(42)), Array(local))
        // libarchive reads no contents of members that are not regular files. The attributes are those of the system.
        switch entry[5] {
        case 0: guard entry[38] & 0x10 == 0 else { return nil }
        case 3: guard entry[41] & 0xF0 == 0x80 else { return nil }
        default: return nil
        }
        guard local.count == 30, entry[8..<12] == local[6..<10] else { return nil }
        let (flags, method) = (entry.number(at: 8, size: 2), entry.number(at: 10, size: 2))
        guard flags & ~0b1000_0000_1110 == 0, method == 0 || method == 8,
            // The local header need not contain the sizes and the checksum if they follow the contents.
            entry[16..<28] == local[14..<26] || flags & 8 != 0
        else { return nil }
        let (count, size) = (entry.number(at: 20, size: 4), entry.number(at: 24, size: 4))
        guard count < UInt32.max, size < UInt32.max, method == 8 || count == size else { return nil }
        let start = offset + 30 + local.number(at: 26, size: 2) + local.number(at: 28, size: 2)
        range = start..<start + count
        self.size = size
        checksum = UInt32(entry.number(at: 16, size: 4))
        isDeflated = method == 8
        hasDescriptor = flags & 8 != 0
    }
}

extension [UInt8] {
    /// Returns the little-endian number of `size` bytes at `index`.
    fileprivate func number(at index: Int, size: Int) -> Int {
        self[index..<index + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
