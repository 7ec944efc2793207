import Bytes
import Glibc

/// An entry of a folder.
public struct FolderEntry: Sendable {
    /// The file type of an entry, without following symbolic links.
    public enum Kind: Sendable {
        case file, folder, link, special
    }

    /// The bytes of the name, which need not be UTF-8.
    public let name: [UInt8]
    /// The file type.
    public let kind: Kind
    /// The inode number.
    public let inode: UInt64

    /// Creates an entry.
    public init(name: some Sequence<UInt8>, kind: Kind, inode: UInt64) {
        self.name = Array(name)
        self.kind = kind
        self.inode = inode
    }

    /// The name with U+FFFD in place of malformed UTF-8.
    public var text: String { String(decoding: name, as: UTF8.self) }

    /// Returns whether the name is equal to `text`.
    public func isNamed(_ text: String) -> Bool { name.elementsEqual(text.utf8) }

    /// Returns whether a file called `name` contains information about another file or its folder, as Windows stores it.
    ///
    /// Other systems show a stream of a file as a file whose name contains a colon, or characters that replace the colon.
    public static func isWindowsMetadata(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        // Most names end with other bytes.
        guard let last = name.last, metadataEndings.contains(last | 0x20) else { return false }
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let type = Array(":$data".utf8)
        if name.suffix(type.count) == type[...] || folderMetadata.contains(where: { name.elementsEqual($0.utf8) }) {
            return true
        }
        return streams.contains { stream in
            guard name.suffix(stream.utf8.count).elementsEqual(stream.utf8) else { return false }
            let rest = name.dropLast(stream.utf8.count)
            let marks = stream == originStream ? colons + ["_", "."] : colons
            return marks.contains { rest.count > $0.utf8.count && rest.suffix($0.utf8.count).elementsEqual($0.utf8) }
        }
    }

    private static let folderMetadata = ["desktop.ini", "thumbs.db"]
    private static let originStream = "zone.identifier"
    private static let streams = [
        originStream, "com.dropbox.attributes", "com.apple.quarantine", "afp_afpinfo", "afp_resource",
        "oecustomproperty", "encryptable",
    ]
    /// The colon, and the characters that replace it on other file systems.
    private static let colons = [":", "\u{F03A}", "\u{F022}", "%3a"]
    private static let metadataEndings = Set((folderMetadata + streams + ["a"]).compactMap(\.utf8.last))

    /// Returns whether the name of `left` sorts before the name of `right` by its bytes.
    public static func precedes(_ left: FolderEntry, _ right: FolderEntry) -> Bool {
        left.name.lexicographicallyPrecedes(right.name)
    }
}

extension Folder {
    /// Returns the names of all entries except for folders, in the order of their bytes, with U+FFFD in place of
    /// malformed UTF-8.
    public func fileNames() throws(FileError) -> [String] {
        try entries().filter { $0.kind != .folder }.map { CapturedText($0.text) }.sortedStrings
    }
}

extension Descriptor {
    /// Returns the entries of an open folder except `.` and `..`, or throws an error that contains `path`.
    func entries(_ path: String) throws(FileError) -> [FolderEntry] {
        // The directory stream closes its descriptor, so it needs a copy.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let code = errno
            if copy >= 0 { close(copy) }
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        var entries: [FolderEntry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(.list, path) }
                return entries
            }
            let (type, inode) = (Int(entry.pointee.d_type), UInt64(entry.pointee.d_ino))
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
                    guard !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) else { return }
                    entries.append(FolderEntry(name: bytes, kind: kind(ofType: type, named: name), inode: inode))
                }
            }
        }
    }

    /// Returns the kind of an entry, even if the file system does not report its type in the listing.
    private func kind(ofType listedType: Int, named name: UnsafePointer<CChar>) -> FolderEntry.Kind {
        var type = listedType
        if type == Int(DT_UNKNOWN) {
            var status = stat()
            guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .special }
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
