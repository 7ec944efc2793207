import Bytes
import Files
import Zip

/// The directory of a plain zip archive, which is read piece by piece.
///
/// A plain archive contains only files and folders that are stored or deflated. The members have no gaps between them,
/// and are in the same order as their entries in the directory.
struct PlainZipDirectory {
    struct Member {
        let entry: ZipEntry
        let kind: FolderEntries.Kind
        /// The range from the header of the member to the header of the next member.
        let extent: Range<Int>
    }

    let source: ByteSource
    private let directoryEnd: ZipDirectoryEnd
    /// The last piece of the directory, which is parsed up to `piecePosition`.
    private var piece: [UInt8] = []
    private var piecePosition = 0
    /// The number of bytes of the directory that were read.
    private var readByteCount = 0
    private var remainingEntryCount: Int
    /// The next entry, or `nil` at the end.
    ///
    /// The offset of the entry is the end of the previous member.
    private var upcomingEntry: ZipEntry?

    /// The number of bytes that are read at once, which is more than the size of any entry.
    private static let pieceSize = 256 << 10
    /// The maximum total size, in bytes, of a member's header and data descriptor.
    private static let maximumOverhead = ZipEntry.maximumHeaderSize + 24

    /// Finds the directory, or returns `nil` if the archive does not end with a directory.
    init?(_ source: ByteSource) throws(RequiresLibarchive) {
        let size = min(source.count, ZipDirectoryEnd.maximumSize)
        guard let tail = try? source.bytes(at: source.count - size, count: size) else { throw RequiresLibarchive() }
        guard let end = ZipDirectoryEnd(tail: tail.span, ofArchiveOf: source.count) else { return nil }
        self.source = source
        self.directoryEnd = end
        remainingEntryCount = directoryEnd.entryCount
        upcomingEntry = try readEntry()
    }

    mutating func nextMember() throws(RequiresLibarchive) -> Member? {
        guard let entry = upcomingEntry else { return nil }
        upcomingEntry = try readEntry()
        let bound = upcomingEntry?.offset ?? directoryEnd.directory.lowerBound
        guard let kind = entry.plainKind, entry.offset < bound, entry.compressedSize <= bound - entry.offset,
            bound - entry.offset - entry.compressedSize <= Self.maximumOverhead
        else { throw RequiresLibarchive() }
        return Member(entry: entry, kind: kind, extent: entry.offset..<bound)
    }

    /// Calls `body` for each entry that libarchive omits because it has the same offset as an earlier entry.
    static func forEachRepeatedEntry(in source: ByteSource, _ body: (ZipEntry) -> Void) {
        // libarchive reads the directory too, and reports its faults.
        guard var directory = try? PlainZipDirectory(source) else { return }
        var offsets: Set<Int> = []
        while let entry = directory.upcomingEntry {
            if !offsets.insert(entry.offset).inserted { body(entry) }
            directory.upcomingEntry = (try? directory.readEntry()) ?? nil
        }
    }

    private mutating func readEntry() throws(RequiresLibarchive) -> ZipEntry? {
        guard remainingEntryCount > 0 else {
            guard readByteCount == directoryEnd.directory.count, piecePosition == piece.count else {
                throw RequiresLibarchive()
            }
            return nil
        }
        if let entry = parseEntry() { return entry }
        try readPiece()
        guard let entry = parseEntry() else { throw RequiresLibarchive() }
        return entry
    }

    /// Parses the next entry, or returns `nil` if `piece` ends within it.
    private mutating func parseEntry() -> ZipEntry? {
        var next = piecePosition
        guard let entry = ZipEntry(piece.span, at: &next) else { return nil }
        piecePosition = next
        remainingEntryCount -= 1
        return entry
    }

    private mutating func readPiece() throws(RequiresLibarchive) {
        let start = directoryEnd.directory.lowerBound + readByteCount
        let count = min(Self.pieceSize, directoryEnd.directory.count - readByteCount)
        guard count > 0, let read = try? source.bytes(at: start, count: count), read.count == count else {
            throw RequiresLibarchive()
        }
        piece = piece[piecePosition...] + read
        piecePosition = 0
        readByteCount += count
    }
}

extension ZipEntry {
    /// The kind of a plain member, or `nil` if reading the member requires libarchive.
    fileprivate var plainKind: FolderEntries.Kind? {
        let plainFlags = Flag.compressorHints | Flag.dataDescriptor | Flag.unicodeName
        guard !hasOverridingField, flags & ~plainFlags == 0, !name.isEmpty,
            // Some MS-DOS programs use backslashes as separators.
            !name.contains(0), !name.contains(UInt8(ascii: "\\")),
            // libarchive normalizes these characters.
            flags & Flag.unicodeName == 0 || name.isComposedText
        else { return nil }
        switch method {
        case Method.stored: guard compressedSize == size else { return nil }
        case Method.deflated: break
        default: return nil
        }
        return name.last == UInt8(ascii: "/") ? plainFolderKind : plainFileKind
    }

    private var plainFolderKind: FolderEntries.Kind? {
        guard size == 0 else { return nil }
        switch system {
        case System.unix: return [0, Mode.folder].contains(attributes >> 28) ? .folder : nil
        default: return .folder
        }
    }

    private var plainFileKind: FolderEntries.Kind? {
        switch system {
        case System.unix: [0, Mode.file].contains(attributes >> 28) ? .file : nil
        case System.msdos: attributes & System.folderOfMSDOS == 0 ? .file : nil
        default: .file
        }
    }

    private enum System {
        static let msdos: UInt8 = 0
        static let unix: UInt8 = 3
        static let folderOfMSDOS: UInt32 = 0x10
    }

    /// The upper bits of a Unix mode, which identify the kind of a file.
    private enum Mode {
        static let folder: UInt32 = 0o04
        static let file: UInt32 = 0o10
    }
}
