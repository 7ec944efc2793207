import Bundle
import Files

/// The files of a capture by their paths: those of the folder or archive, and those of archives that lie in it, as
/// `outer.zip!inner/path`.
struct CaptureTree: Sendable {
    /// An archive that lies in the capture.
    struct Part: Sendable {
        /// What its paths begin with: the path of the archive and `!`.
        let prefix: String
        let root: RootFolder
    }

    /// The capture itself.
    let root: RootFolder
    /// The archives in it, by the bytes of their prefixes; none of these begins with another, see `FolderVisit.Archive`.
    private(set) var parts: [Part] = []

    init(_ root: consuming TreeFolder) {
        self.root = RootFolder(root)
    }

    /// The capture with one archive.
    private init(_ root: RootFolder, _ part: Part) {
        self.root = root
        parts = [part]
    }

    /// Adds an archive, whose prefix has to come after those that are there.
    /// - Returns: the capture with this archive alone, so that what walks through it holds on to no other.
    mutating func add(_ archive: SpooledTree, prefix: String) -> CaptureTree {
        let part = Part(prefix: prefix, root: RootFolder(TreeFolder(rootOf: archive)))
        parts.append(part)
        return CaptureTree(root, part)
    }

    /// Opens a folder.
    /// - Parameter path: in the capture; empty for its root.
    /// - Throws: `FileError`; `ELOOP` or `ENOTDIR` if the last part of the path is a link.
    func folder(at path: String) throws(FileError) -> TreeFolder {
        guard let part = part(of: path) else { return try root.folder.folder(at: path) }
        return try part.root.folder.folder(at: String(path.utf8.dropFirst(part.prefix.utf8.count)) ?? "")
    }

    /// Reads a file into memory that is used again.
    /// - Throws: `FileError`; `EFBIG` beyond the limit.
    func read(_ path: String, limit: Int, into contents: inout [UInt8]) throws(FileError) {
        guard let part = part(of: path) else {
            return try root.folder.read(Array(path.utf8), limit: limit, into: &contents)
        }
        try part.root.folder.read(
            Array(path.utf8.dropFirst(part.prefix.utf8.count)), limit: limit, into: &contents)
    }

    /// A file to be read by position, one that may be too large for memory.
    /// - Throws: `FileError`.
    func source(_ path: String) throws(FileError) -> ByteSource {
        guard let part = part(of: path) else { return try root.folder.source(Array(path.utf8)) }
        return try part.root.folder.source(Array(path.utf8.dropFirst(part.prefix.utf8.count)))
    }

    /// What the paths of the entries of a folder begin with.
    func base(of path: String) -> String {
        path.isEmpty || part(of: path)?.prefix == path ? path : path + "/"
    }

    /// The archive in the capture that a path leads into.
    func part(of path: String) -> Part? {
        // The last prefix that does not come after the path: one that begins with the right one would be such a prefix too.
        let next = parts.indices.firstSorted { path.utf8.lexicographicallyPrecedes(parts[$0].prefix.utf8) }
        guard next > 0, path.utf8.starts(with: parts[next - 1].prefix.utf8) else { return nil }
        return parts[next - 1]
    }
}

/// An open folder that threads share.
final class RootFolder: Sendable {
    let folder: TreeFolder

    init(_ folder: consuming TreeFolder) {
        self.folder = folder
    }
}
