import Bytes
import Files
import Tar
import Zip

/// The members of a zip archive that is plain: files and folders one behind the other, stored or deflated, in the order of
/// the directory at the end. It is read piece by piece.
struct PlainZipDirectory {
    struct Member {
        let entry: ZipEntry
        let kind: FolderEntries.Kind
        /// The bytes from its header up to that of the next member.
        let extent: Range<Int>
    }

    let source: ByteSource
    private let end: ZipDirectoryEnd
    /// The bytes of the directory that were read and not used, and where they begin.
    private var piece: [UInt8] = []
    private var place = 0
    /// How many bytes of the directory were read.
    private var position = 0
    private var entriesLeft: Int
    /// The entry behind the one that is given next, for it tells where that ends.
    private var following: ZipEntry?

    /// How much is read at once: more than the longest entry has.
    private static let pieceSize = 256 << 10
    /// What may stand around the contents of a member: a header with a name and fields, and the sizes behind them.
    private static let mostAround = ZipEntry.mostHeaderBytes + 24

    /// Finds the directory. Returns `nil` if there is none at the end of the archive.
    init?(_ source: ByteSource) throws(NotPlain) {
        let size = min(source.count, ZipDirectoryEnd.size)
        guard let tail = try? source.bytes(at: source.count - size, count: size) else { throw NotPlain() }
        guard let end = ZipDirectoryEnd(tail: tail.span, ofArchiveOf: source.count) else { return nil }
        self.source = source
        self.end = end
        entriesLeft = end.entryCount
        following = try nextEntry()
    }

    /// The next member; nil at the end.
    mutating func next() throws(NotPlain) -> Member? {
        guard let entry = following else { return nil }
        following = try nextEntry()
        let bound = following?.offset ?? end.directory.lowerBound
        guard let kind = entry.plainKind, entry.offset < bound, entry.compressedSize <= bound - entry.offset,
            bound - entry.offset - entry.compressedSize <= Self.mostAround
        else { throw NotPlain() }
        return Member(entry: entry, kind: kind, extent: entry.offset..<bound)
    }

    /// Calls `body` for each entry whose member is that of an earlier entry, because libarchive reads a member only once.
    static func forEachRepeatedEntry(in source: ByteSource, _ body: (ZipEntry) -> Void) {
        // libarchive reads the directory too, and reports what is wrong with it.
        guard var directory = try? PlainZipDirectory(source) else { return }
        var offsets: Set<Int> = []
        while let entry = directory.following {
            if !offsets.insert(entry.offset).inserted { body(entry) }
            directory.following = (try? directory.nextEntry()) ?? nil
        }
    }

    private mutating func nextEntry() throws(NotPlain) -> ZipEntry? {
        guard entriesLeft > 0 else {
            guard position == end.directory.count, place == piece.count else { throw NotPlain() }
            return nil
        }
        if let entry = takeEntry() { return entry }
        try readOn()
        guard let entry = takeEntry() else { throw NotPlain() }
        return entry
    }

    /// The next entry, if it was read.
    private mutating func takeEntry() -> ZipEntry? {
        var next = place
        guard let entry = ZipEntry(piece.span, at: &next) else { return nil }
        place = next
        entriesLeft -= 1
        return entry
    }

    private mutating func readOn() throws(NotPlain) {
        let start = end.directory.lowerBound + position
        let count = min(Self.pieceSize, end.directory.count - position)
        guard count > 0, let read = try? source.bytes(at: start, count: count), read.count == count else {
            throw NotPlain()
        }
        piece = piece[place...] + read
        place = 0
        position += count
    }
}

extension ZipEntry {
    /// What a member is that can be read in the short way; nil for all else.
    fileprivate var plainKind: FolderEntries.Kind? {
        let plainFlags = Flag.compressorHints | Flag.isMeasuredBehind | Flag.isUnicode
        guard !isChangedByExtra, flags & ~plainFlags == 0, !name.isEmpty,
            // Some programs of MS-DOS write a path with these.
            !name.contains(0), !name.contains(UInt8(ascii: "\\")),
            // libarchive composes the characters of these.
            flags & Flag.isUnicode == 0 || name.isTextInEveryNormalForm
        else { return nil }
        switch method {
        case Method.stored: guard compressedSize == size else { return nil }
        case Method.deflated: break
        default: return nil
        }
        return name.last == UInt8(ascii: "/") ? plainFolder : plainFile
    }

    private var plainFolder: FolderEntries.Kind? {
        guard size == 0 else { return nil }
        switch system {
        case System.unix: return [0, Mode.folder].contains(attributes >> 28) ? .folder : nil
        default: return .folder
        }
    }

    private var plainFile: FolderEntries.Kind? {
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

    /// What the mode of Unix says of the kind.
    private enum Mode {
        static let folder: UInt32 = 0o04
        static let file: UInt32 = 0o10
    }
}
