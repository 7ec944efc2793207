import Bytes

/// Files by their paths: those of the folder or archive, those of archives that lie in it, as `outer.zip!inner/path`, and
/// those of backups that lie in either, as if they had been unpacked in their place.
public struct FileTree: Sendable {
    /// An archive or a backup that lies in the capture.
    public struct Part: Sendable {
        /// The beginning of its paths: the path of the archive and `!`, or that of the backup and a slash.
        public let prefix: String
        /// The folder that was packed, or backed up.
        public let root: RootFolder
    }

    /// The capture itself.
    public let root: RootFolder
    /// The archives and backups in it, by the bytes of their prefixes. Only that of a backup may begin with another one:
    /// that of the archive that it lies in.
    public private(set) var parts: [Part] = []

    /// A tree without archives and backups.
    public init(_ root: consuming Folder) {
        self.root = RootFolder(root)
    }

    /// The capture with one archive or backup.
    private init(_ root: RootFolder, _ part: Part) {
        self.root = root
        parts = [part]
    }

    /// Adds an archive or a backup; one of the same prefix is replaced.
    /// - Returns: the capture with this part alone, so that what walks through it holds on to no other.
    public mutating func add(_ members: SpooledTree, prefix: String) -> FileTree {
        let part = Part(prefix: prefix, root: RootFolder(Folder(rootOf: members)))
        // Mostly the last place: parts come in order.
        let place = parts.indices.firstSorted { !parts[$0].prefix.utf8.lexicographicallyPrecedes(prefix.utf8) }
        if place < parts.count, parts[place].prefix.utf8.elementsEqual(prefix.utf8) {
            parts[place] = part
        } else {
            parts.insert(part, at: place)
        }
        return FileTree(root, part)
    }

    /// Opens a folder.
    /// - Parameter path: in the capture; empty for its root.
    /// - Throws: `FileError`; `ELOOP` or `ENOTDIR` if the last part of the path is a link.
    public func folder(at path: String) throws(FileError) -> Folder {
        let (root, inside) = location(of: path)
        return try root.folder.folder(at: inside)
    }

    /// A file to be read by position, one that may be too large for memory.
    public func source(_ path: String) throws(FileError) -> ByteSource {
        let (root, inside) = location(of: path)
        return try root.folder.source(root.folder.storedPath(of: inside))
    }

    /// Returns the folder that has the file or folder at a path, and the path in that folder.
    private func location(of path: String) -> (root: RootFolder, inside: String) {
        guard let part = part(of: path) else { return (root, path) }
        return (part.root, String(path.utf8.dropFirst(part.prefix.utf8.count)) ?? "")
    }

    /// Where a symbolic link leads, without following it.
    /// - Parameters:
    ///   - name: the name of the link.
    ///   - folder: the path of the folder that it lies in.
    /// - Returns: nil if it is no link any more.
    public func target(ofLink name: [UInt8], inFolder folder: String) -> LinkTarget? {
        let (root, inside) = location(of: folder)
        // The target only adds to a message about the link.
        guard let stored = try? root.folder.storedPath(of: inside) else { return nil }
        return root.folder.target(ofLink: stored + (stored.isEmpty ? [] : [UInt8(ascii: "/")]) + name)
    }

    /// The beginning of the paths of all entries of a folder.
    public func base(of path: String) -> String {
        path.isEmpty || part(of: path)?.prefix == path ? path : path + "/"
    }

    /// The archive or the backup in the capture that a path leads into: the one of the longest prefix.
    public func part(of path: String) -> Part? {
        var key = path.utf8[...]
        while true {
            // The last prefix that does not come after the key: of those that the path begins with, it is the longest, or
            // something stands between, which shares less of the path than it has.
            let next = parts.indices.firstSorted { key.lexicographicallyPrecedes(parts[$0].prefix.utf8) }
            guard next > 0 else { return nil }
            let found = parts[next - 1]
            let shared = zip(key, found.prefix.utf8).prefix { $0 == $1 }.count
            guard shared < found.prefix.utf8.count else { return found }
            key = key.prefix(shared)
        }
    }
}

/// An open folder that threads share.
public final class RootFolder: Sendable {
    /// The folder.
    public let folder: Folder

    /// Shares a folder.
    public init(_ folder: consuming Folder) {
        self.folder = folder
    }
}
