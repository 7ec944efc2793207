import Bytes

/// The files of a capture by their paths, including the files in nested archives and backups.
///
/// The path of a file in an archive is `outer.zip!inner/path`. The files of a backup have paths as if the backup had
/// been extracted in its folder.
public struct FileTree: Sendable {
    /// An archive or backup in the capture.
    public struct Part: Sendable {
        /// The prefix of all paths in this part: the path of an archive and `!`, or the path of a backup and a slash.
        public let prefix: String
        /// The root folder of the contents.
        public let root: SharedFolder
    }

    /// The root folder of the capture.
    public let root: SharedFolder
    /// The archives and backups, sorted by the bytes of their prefixes.
    ///
    /// The prefix of a backup can begin with that of the archive that contains the backup. No other prefixes overlap.
    public private(set) var parts: [Part] = []

    /// Creates a tree without archives and backups.
    public init(_ root: consuming Folder) {
        self.root = SharedFolder(root)
    }

    private init(_ root: SharedFolder, _ part: Part) {
        self.root = root
        parts = [part]
    }

    /// Adds an archive or backup, which replaces an existing one with the same prefix.
    ///
    /// Returns a tree with only the new part, so that a traversal of the part does not keep the others in memory.
    public mutating func add(_ members: SpooledTree, prefix: String) -> FileTree {
        let part = Part(prefix: prefix, root: SharedFolder(Folder(rootOf: members)))
        let index = parts.indices.partitioningIndex { !parts[$0].prefix.utf8.lexicographicallyPrecedes(prefix.utf8) }
        if index < parts.count, parts[index].prefix.utf8.elementsEqual(prefix.utf8) {
            parts[index] = part
        } else {
            parts.insert(part, at: index)
        }
        return FileTree(root, part)
    }

    /// Opens the folder at a path in the capture.
    ///
    /// The path of the root folder is empty.
    ///
    /// - Throws: `FileError`, such as `ELOOP` or `ENOTDIR` if the last part of the path is a symbolic link.
    public func folder(at path: String) throws(FileError) -> Folder {
        let (root, relativePath) = location(of: path)
        return try root.folder.folder(at: relativePath)
    }

    /// Opens a file for reading at any offset.
    public func source(at path: String) throws(FileError) -> ByteSource {
        let (root, relativePath) = location(of: path)
        return try root.folder.source(root.folder.storedPath(of: relativePath))
    }

    /// Returns the root folder of the part that contains a path, and the path relative to that folder.
    private func location(of path: String) -> (root: SharedFolder, relativePath: String) {
        guard let part = part(of: path) else { return (root, path) }
        return (part.root, String(path.utf8.dropFirst(part.prefix.utf8.count)) ?? "")
    }

    /// Returns the target of the link `name` in the folder at the path `folder`, or `nil` if it is not a symbolic link.
    public func target(ofLink name: [UInt8], inFolder folder: String) -> LinkTarget? {
        let (root, relativePath) = location(of: folder)
        // An error is ignored, because the target is only an addition to a message.
        guard let stored = try? root.folder.storedPath(of: relativePath) else { return nil }
        return root.folder.target(ofLink: stored + (stored.isEmpty ? [] : [UInt8(ascii: "/")]) + name)
    }

    /// Returns the common prefix of the paths of all entries of the folder at `path`.
    public func entryPathPrefix(ofFolder path: String) -> String {
        path.isEmpty || part(of: path)?.prefix == path ? path : path + "/"
    }

    /// Returns the archive or backup that contains `path`, which is the part with the longest matching prefix.
    public func part(of path: String) -> Part? {
        var key = path.utf8[...]
        while true {
            // The last prefix that does not sort after the key is either the longest matching one, or it shares only a
            // part of the key with it. In the latter case, no longer part of the key can match.
            let next = parts.indices.partitioningIndex { key.lexicographicallyPrecedes(parts[$0].prefix.utf8) }
            guard next > 0 else { return nil }
            let found = parts[next - 1]
            let shared = zip(key, found.prefix.utf8).prefix { $0 == $1 }.count
            guard shared < found.prefix.utf8.count else { return found }
            key = key.prefix(shared)
        }
    }
}

/// An open folder that several threads share.
public final class SharedFolder: Sendable {
    /// The folder.
    public let folder: Folder

    /// Creates a shared reference to `folder`.
    public init(_ folder: consuming Folder) {
        self.folder = folder
    }
}
