import Glibc

/// The members of an archive as folders and files, those that were wanted with their bytes in the spool; or the files of a
/// backup, whose bytes lie elsewhere under other names.
///
/// It answers as a folder on disk would, so that records do not depend on how a capture was packed.
public final class SpooledTree: Sendable {
    /// Where the bytes of a file are, or why they are missing.
    public enum Contents: Sendable, Equatable {
        /// They stand in the spool.
        case spooled(offset: Int, count: Int)
        /// The name belongs to no store, so they were not kept.
        case leftOut
        /// They are more than the limit for one member.
        case tooLarge
        /// They lie elsewhere: the file of this number has to be asked for them.
        case elsewhere(Int)
    }

    static let root = 0

    /// The path by which messages name the archive.
    let name: String
    private let folders: [FolderEntries]
    private let files: [Contents]
    private let links: [[UInt8]]
    private let bytes: Bytes

    /// Where the bytes of files are.
    public enum Bytes: Sendable {
        /// In the spool.
        case spool(SpoolFile)
        /// Elsewhere, under other names. The function returns the bytes of the file of a number.
        case finder(@Sendable (Int) throws(FileError) -> ByteSource)
    }

    /// - Parameters:
    ///   - folders: the root first; entries by the bytes of their names, each name once. The "inode" of an entry is its
    ///     place in `folders` for a folder, in `files` for a file, in `links` for a link.
    ///   - files: what the entries of kind `file` have for contents.
    ///   - links: where the entries of kind `link` lead; no bytes where that is not known.
    init(name: String, folders: [FolderEntries], files: [Contents], links: [[UInt8]], bytes: Bytes) {
        self.name = name
        self.folders = folders
        self.files = files
        self.links = links
        self.bytes = bytes
    }

    func entries(of folder: Int) -> FolderEntries { folders[folder] }

    /// The folder at a path.
    /// - Throws: `FileError`, as `openat` would: `ENOENT`, `ENOTDIR`, `ELOOP`.
    func folder(at path: some Collection<UInt8>, below start: Int) throws(FileError) -> Int {
        var folder = start
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let entry = find(part, in: folder) else { throw error(.open, path, ENOENT) }
            guard folders[folder].kind(entry) == .folder else { throw error(.open, path, ENOTDIR) }
            folder = Int(folders[folder].inode(entry))
        }
        return folder
    }

    /// Reads a file; see `Folder`.
    func read(_ path: [UInt8], below start: Int, limit: Int, into contents: inout [UInt8]) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        let source = try source(path, below: start)
        guard source.count <= limit else { throw error(.read, path, EFBIG) }
        try contents.append(addingCapacity: source.count) { output throws(FileError) in
            try source.read(at: 0, into: &output)
        }
    }

    /// A file to be read by position.
    func source(_ path: [UInt8], below start: Int) throws(FileError) -> ByteSource {
        switch (files[try file(at: path, below: start)], bytes) {
        case (.spooled(let offset, let count), .spool(let spool)): return ByteSource(spool, at: offset, count: count)
        case (.elsewhere(let number), .finder(let finder)): return try finder(number)
        case (.tooLarge, _): throw error(.read, path, EFBIG)
        case (.leftOut, _), (.spooled, _), (.elsewhere, _): throw error(.read, path, ENODATA)
        }
    }

    /// The place of a file in `files`.
    /// - Throws: `FileError`, as `openat` without following links would.
    func file(at path: [UInt8], below start: Int) throws(FileError) -> Int {
        let (parent, name) = Path.split(path)
        let folder = try folder(at: parent, below: start)
        guard let entry = find(name, in: folder) else { throw error(.open, path, ENOENT) }
        switch folders[folder].kind(entry) {
        case .file: return Int(folders[folder].inode(entry))
        case .link: throw error(.open, path, ELOOP)
        case .folder, .special: throw error(.read, path, ENOTSUP)
        }
    }

    /// What an entry of a folder is; nil if there is none of that name.
    func kind(named name: [UInt8], in folder: Int) -> FolderEntries.Kind? {
        find(name, in: folder).map { folders[folder].kind($0) }
    }

    /// What stands in a symbolic link; no bytes if that is not known, nil if there is no such link.
    func link(named name: [UInt8], in folder: Int) -> [UInt8]? {
        guard let entry = find(name, in: folder), folders[folder].kind(entry) == .link else { return nil }
        return links[Int(folders[folder].inode(entry))]
    }

    /// The place of an entry among the sorted ones of its folder.
    private func find(_ name: some Collection<UInt8>, in folder: Int) -> Int? {
        folders[folder].index(inSorted: name)
    }

    private func error(_ operation: FileError.Operation, _ path: some Collection<UInt8>, _ code: Int32) -> FileError {
        FileError(operation, "\(name)!\(String(decoding: path, as: UTF8.self))", code: code)
    }
}
