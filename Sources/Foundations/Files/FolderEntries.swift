import Bytes
import Glibc

/// The entries of a folder. All names share one buffer, so that a million of them cost little more than their bytes.
public struct FolderEntries: Sendable {
    /// The kind of an entry. Links are not followed.
    public enum Kind: UInt8, Sendable {
        case file, folder, link, special
    }

    /// An entry in 16 bytes.
    private struct Entry {
        /// Where the name begins, 14 bits of its length, 2 bits of kind. No path of Linux has more than 4,096 bytes.
        private let packed: UInt64
        let inode: UInt64

        init(start: Int, length: Int, kind: Kind, inode: UInt64) {
            packed = UInt64(start) << 16 | UInt64(min(length, 1 << 14 - 1)) << 2 | UInt64(kind.rawValue)
            self.inode = inode
        }

        var name: Range<Int> {
            let start = Int(packed >> 16)
            return start..<start + Int(packed >> 2 & (1 << 14 - 1))
        }
        var kind: Kind { Kind(rawValue: UInt8(packed & 3)) ?? .special }
    }

    private var names: [UInt8] = []
    private var entries: [Entry] = []

    /// No entries.
    public init() {}

    /// Adds an entry.
    public mutating func append(name: some Sequence<UInt8>, kind: Kind, inode: UInt64) {
        let start = names.count
        names.append(contentsOf: name)
        entries.append(Entry(start: start, length: names.count - start, kind: kind, inode: inode))
    }

    /// How many entries there are.
    public var count: Int { entries.count }

    /// The bytes of a name.
    public func name(_ index: Int) -> [UInt8] { Array(bytes(index)) }

    /// Hands the bytes of a name to a body, without memory of their own.
    public func withName<Output>(_ index: Int, _ body: (Span<UInt8>) -> Output) -> Output {
        body(names.span.extracting(entries[index].name))
    }

    /// Whether a name is a text.
    public func hasName(_ index: Int, _ text: String) -> Bool {
        withName(index) { $0.equals(text.utf8.span) }
    }

    /// The kind of an entry.
    public func kind(_ index: Int) -> Kind { entries[index].kind }

    /// The inode number of an entry, on the device of its folder.
    public func inode(_ index: Int) -> UInt64 { entries[index].inode }

    /// The bytes of a name, as a part of the memory that all names share.
    public func bytes(_ index: Int) -> ArraySlice<UInt8> { names[entries[index].name] }

    /// Returns the entries at some indices, in the order of the indices.
    public func selecting(_ indices: some Sequence<Int>) -> FolderEntries {
        var selected = FolderEntries()
        selected.names = names
        selected.entries = indices.map { entries[$0] }
        return selected
    }

    /// The place of an entry, if the entries are in the order of the bytes of their names.
    public func index(inSorted name: some Collection<UInt8>) -> Int? {
        let index = (0..<count).firstSorted { !bytes($0).lexicographicallyPrecedes(name) }
        return index < count && bytes(index).elementsEqual(name) ? index : nil
    }

    /// Whether the name of an entry comes before that of another one by its bytes.
    public func precedes(_ left: Int, _ right: Int) -> Bool { bytes(left).lexicographicallyPrecedes(bytes(right)) }

    /// Puts the entries in the order of the bytes of their names, those with one name in the order in which they were added.
    public mutating func sort() {
        entries.sort { [names] left, right in
            let (leftName, rightName) = (names[left.name], names[right.name])
            return leftName.elementsEqual(rightName)
                ? left.name.lowerBound < right.name.lowerBound : leftName.lexicographicallyPrecedes(rightName)
        }
    }

    /// Keeps one of the sorted entries that have a name.
    /// - Parameter choose: takes the entries and the places of all that have it, and says which one to keep.
    public mutating func keepOne(ofEachName choose: (FolderEntries, Range<Int>) -> Int) {
        var kept = 0
        var start = 0
        while start < count {
            var end = start + 1
            while end < count, bytes(end).elementsEqual(bytes(start)) { end += 1 }
            // What is kept goes to places that were looked at.
            entries[kept] = entries[end - start == 1 ? start : choose(self, start..<end)]
            kept += 1
            start = end
        }
        entries.removeLast(count - kept)
    }

    /// Lists an open folder on disk.
    /// - Parameter path: The path of the folder, for messages.
    init(of folder: borrowing Descriptor, _ path: String) throws(FileError) {
        let number = folder.number
        // A directory stream owns its descriptor, so it gets one of its own.
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

    /// Returns the kind of an entry. Some file systems do not report its type in the listing.
    private static func kind(_ type: UInt8, name: UnsafePointer<CChar>, in folder: Int32) -> Kind {
        var type = Int(type)
        if type == Int(DT_UNKNOWN) {
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .special }
            // As the macro `IFTODT` does.
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
