import Bytes
import Glibc

/// The entries of a folder.
///
/// All names share one buffer, which saves memory for folders with millions of entries.
public struct FolderEntries: Sendable {
    /// The file type of an entry, without following symbolic links.
    public enum Kind: UInt8, Sendable {
        case file, folder, link, special
    }

    private struct Entry {
        /// The start of the name (48 bits), its length (14 bits) and the kind (2 bits).
        ///
        /// These values share one word, so that an entry occupies only 16 bytes.
        private let packedNameAndKind: UInt64
        let inode: UInt64

        init(start: Int, length: Int, kind: Kind, inode: UInt64) {
            packedNameAndKind = UInt64(start) << 16 | UInt64(min(length, 1 << 14 - 1)) << 2 | UInt64(kind.rawValue)
            self.inode = inode
        }

        var name: Range<Int> {
            let start = Int(packedNameAndKind >> 16)
            return start..<start + Int(packedNameAndKind >> 2 & (1 << 14 - 1))
        }
        var kind: Kind { Kind(rawValue: UInt8(packedNameAndKind & 3)) ?? .special }
    }

    private var names: [UInt8] = []
    private var entries: [Entry] = []

    /// Creates an empty list.
    public init() {}

    /// Adds an entry with the given name, kind and inode number.
    public mutating func append(name: some Sequence<UInt8>, kind: Kind, inode: UInt64) {
        let start = names.count
        names.append(contentsOf: name)
        entries.append(Entry(start: start, length: names.count - start, kind: kind, inode: inode))
    }

    /// The number of entries.
    public var count: Int { entries.count }

    /// Returns a copy of the name of the entry at `index`.
    public func name(_ index: Int) -> [UInt8] { Array(nameBytes(at: index)) }

    /// The names of all entries except for folders, in the order of their bytes, with U+FFFD in place of malformed UTF-8.
    public var fileNames: [String] {
        (0..<count).filter { kind($0) != .folder }.map { CapturedText(decoding: nameBytes(at: $0)) }.sorted()
            .map(\.string)
    }

    /// Calls `body` with the bytes of the name of the entry at `index`, without copying them.
    public func withName<Output>(_ index: Int, _ body: (Span<UInt8>) -> Output) -> Output {
        body(names.span.extracting(entries[index].name))
    }

    /// Returns whether the name of the entry at `index` is equal to `text`.
    public func hasName(_ text: String, at index: Int) -> Bool {
        withName(index) { $0.equals(text.utf8.span) }
    }

    /// Returns the kind of the entry at `index`.
    public func kind(_ index: Int) -> Kind { entries[index].kind }

    /// Returns the inode number of the entry at `index`.
    public func inode(at index: Int) -> UInt64 { entries[index].inode }

    /// Returns the name of the entry at `index` as a slice of the shared buffer.
    public func nameBytes(at index: Int) -> ArraySlice<UInt8> { names[entries[index].name] }

    /// Returns the entries at `indices`, in the same order.
    public func selecting(_ indices: some Sequence<Int>) -> FolderEntries {
        var selected = FolderEntries()
        selected.names = names
        selected.entries = indices.map { entries[$0] }
        return selected
    }

    /// Returns the index of the entry named `name`, or `nil` if there is none.
    ///
    /// The entries must be sorted.
    public func index(inSorted name: some Collection<UInt8>) -> Int? {
        let index = (0..<count).partitioningIndex { !nameBytes(at: $0).lexicographicallyPrecedes(name) }
        return index < count && nameBytes(at: index).elementsEqual(name) ? index : nil
    }

    /// Returns whether the name of the entry at `left` sorts before the name of the entry at `right`.
    public func precedes(_ left: Int, _ right: Int) -> Bool {
        nameBytes(at: left).lexicographicallyPrecedes(nameBytes(at: right))
    }

    /// Sorts the entries by the bytes of their names.
    ///
    /// Entries with equal names keep the order in which they were added.
    public mutating func sort() {
        entries.sort { [names] left, right in
            let (leftName, rightName) = (names[left.name], names[right.name])
            return leftName.elementsEqual(rightName)
                ? left.name.lowerBound < right.name.lowerBound : leftName.lexicographicallyPrecedes(rightName)
        }
    }

    /// Removes duplicate entries, so that only one entry remains for each name.
    ///
    /// The entries must be sorted. `choose` returns the index of the entry to keep from a range of entries with equal
    /// names.
    mutating func removeDuplicates(keeping choose: (FolderEntries, Range<Int>) -> Int) {
        var kept = 0
        var start = 0
        while start < count {
            var end = start + 1
            while end < count, nameBytes(at: end).elementsEqual(nameBytes(at: start)) { end += 1 }
            // This overwrites only entries that were processed already.
            entries[kept] = entries[end - start == 1 ? start : choose(self, start..<end)]
            kept += 1
            start = end
        }
        entries.removeLast(count - kept)
    }

    /// Creates a list of the entries of an open folder on disk, or throws an error that contains `path`.
    init(of folder: borrowing Descriptor, _ path: String) throws(FileError) {
        let number = folder.number
        // The directory stream closes its descriptor, so it needs a copy.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let code = errno
            if copy >= 0 { close(copy) }
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(.list, path) }
                return
            }
            let (kind, inode) = (entry.pointee.d_type, UInt64(entry.pointee.d_ino))
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    append(name: name, kind: kind, inode: inode, in: number)
                }
            }
        }
    }

    private mutating func append(name: UnsafePointer<CChar>, kind: UInt8, inode: UInt64, in folder: Int32) {
        let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
        if bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) { return }
        append(name: bytes, kind: Self.kind(kind, name: name, in: folder), inode: inode)
    }

    /// Returns the kind of an entry, even if the file system does not report its type in the listing.
    private static func kind(_ type: UInt8, name: UnsafePointer<CChar>, in folder: Int32) -> Kind {
        var type = Int(type)
        if type == Int(DT_UNKNOWN) {
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .special }
            // This is the conversion that the C macro `IFTODT` makes.
            type = Int(status.st_mode & S_IFMT) >> 12
        }
        switch type {
        case Int(DT_REG): return .file
        case Int(DT_DIR): return .folder
        case Int(DT_LNK): return .link
        default: return .special
        }
    }
}

/// The names of selected entries of a folder.
///
/// Each name is created on access, which saves memory for folders with millions of entries.
public struct FileNames: RandomAccessCollection, Sendable {
    /// All entries of the folder.
    public let entries: FolderEntries
    private var entryIndices: [UInt32] = []

    /// Creates an empty collection of names of `entries`.
    public init(of entries: FolderEntries) {
        self.entries = entries
    }

    /// Adds the name of the entry at index `entry`.
    public mutating func append(_ entry: Int) { entryIndices.append(UInt32(entry)) }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of names.
    public var endIndex: Int { entryIndices.count }
    /// The bytes of the name at `index`.
    public subscript(index: Int) -> [UInt8] { entries.name(entryIndex(at: index)) }

    /// Calls `body` with the bytes of the name at `index`, without copying them.
    public func withName<Output>(_ index: Int, _ body: (Span<UInt8>) -> Output) -> Output {
        entries.withName(entryIndex(at: index), body)
    }

    /// Returns whether one of the names is equal to `text`.
    public func contains(named text: String) -> Bool {
        indices.contains { index in entries.hasName(text, at: entryIndex(at: index)) }
    }

    /// Returns the index in ``entries`` of the entry whose name is at `index` in this collection.
    public func entryIndex(at index: Int) -> Int { Int(entryIndices[index]) }
}
