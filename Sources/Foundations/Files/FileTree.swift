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
        /// The root folder of the archive or backup.
        public let root: SharedFolder
    }

    /// The root folder of the capture.
    public let root: SharedFolder
    /// The archives and backups, sorted by the bytes of their prefixes.
    ///
    /// The prefix of a backup can begin with the prefix of the archive that contains the backup. No other prefixes
    /// overlap.
    public private(set) var parts: [Part] = []

    /// Creates a tree without archives and backups.
    public init(_ root: consuming Folder) {
        self.root = SharedFolder(root)
    }

    /// Throws an error if files of the capture could not be opened because this process lacks resources.
    public func checkResources() throws(FileError) { try root.folder.exhaustion.check() }

    private init(_ root: SharedFolder, _ part: Part) {
        self.root = root
        parts = [part]
    }

    /// Adds the archive or backup `members`, replacing an existing part with the same prefix.
    ///
    /// Returns a tree with only the new part, so that a traversal of the new part does not keep the other parts in
    /// memory.
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

    /// Opens the folder at `path` in the capture.
    ///
    /// The path of the root folder is empty.
    ///
    /// - Throws: `FileError`, such as `ELOOP` or `ENOTDIR` if the last part of the path is a symbolic link.
    public func folder(at path: String) throws(FileError) -> Folder {
        let (root, relativePath) = location(of: path)
        return try root.folder.folder(at: relativePath)
    }

    /// Opens the file at `path` for reading at any offset.
    public func source(at path: String) throws(FileError) -> ByteSource {
        let (root, relativePath) = location(of: path)
        return try root.folder.source(root.folder.storedPath(of: relativePath))
    }

    /// Returns the root folder of the part that contains `path`, and the path relative to that root folder.
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

    /// Returns the archive or backup with the longest prefix that `path` begins with, or `nil` if there is none.
    public func part(of path: String) -> Part? {
        var key = path.utf8[...]
        while true {
            // The last prefix that does not sort after the key is the longest matching prefix, or shares only its first
            // bytes with the key. In the latter case, no prefix that is longer than the shared bytes can match.
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
