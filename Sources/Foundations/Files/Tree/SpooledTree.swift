import Glibc

/// The folders and files of an archive or backup.
///
/// The needed members of an archive are stored in a spool file. The files of a backup are opened on demand. The tree
/// behaves like a folder on disk, so that the records do not depend on how a capture was packed.
public final class SpooledTree: Sendable {
    /// The location of the bytes of a file, or the reason why they are missing.
    public enum Contents: Sendable, Equatable {
        /// The bytes are in the spool file.
        case spooled(offset: Int, count: Int)
        /// The bytes were not kept, because the file is not needed.
        case omitted
        /// The file exceeds the size limit for one member.
        case tooLarge
        /// The bytes are not in the spool file, but `ByteStorage.provider` returns them for this number.
        case external(Int)
    }

    static let root = 0

    /// The path of the archive or backup, for error messages.
    let name: String
    private let folders: [FolderEntries]
    private let files: [Contents]
    private let links: [[UInt8]]
    private let byteStorage: ByteStorage

    /// The storage of the bytes of all files.
    public enum ByteStorage: Sendable {
        /// The bytes are in a spool file.
        case spool(SpoolFile)
        /// The function returns the bytes of the file with a given number.
        case provider(@Sendable (Int) throws(FileError) -> ByteSource)
    }

    /// Creates a tree.
    ///
    /// - Parameters:
    ///   - name: The path of the archive or backup, for error messages.
    ///   - folders: The folders, beginning with the root. Their entries are sorted and have unique names. The inode of
    ///     an entry is its index in `folders`, `files` or `links`, depending on its kind.
    ///   - files: The contents of the files.
    ///   - links: The targets of the symbolic links. An unknown target is empty.
    ///   - byteStorage: The storage of the bytes.
    init(name: String, folders: [FolderEntries], files: [Contents], links: [[UInt8]], byteStorage: ByteStorage) {
        self.name = name
        self.folders = folders
        self.files = files
        self.links = links
        self.byteStorage = byteStorage
    }

    func entries(of folder: Int) -> FolderEntries { folders[folder] }

    /// Returns the index of the folder at `path` below the folder `start`, or throws `FileError` with a code of
    /// `openat`.
    func folder(at path: some Collection<UInt8>, below start: Int) throws(FileError) -> Int {
        var folder = start
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let entry = entryIndex(named: part, in: folder) else { throw error(.open, path, ENOENT) }
            guard folders[folder].kind(entry) == .folder else { throw error(.open, path, ENOTDIR) }
            folder = Int(folders[folder].inode(at: entry))
        }
        return folder
    }

    /// Reads a file as `Folder.read(_:limit:into:)` does.
    func read(_ path: [UInt8], below start: Int, limit: Int, into contents: inout [UInt8]) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        let source = try source(path, below: start)
        guard source.count <= limit else { throw error(.read, path, EFBIG) }
        try contents.append(addingCapacity: source.count) { output throws(FileError) in
            try source.read(at: 0, into: &output)
        }
    }

    /// Opens the file at `path` below the folder `start` for reading at any offset.
    func source(_ path: [UInt8], below start: Int) throws(FileError) -> ByteSource {
        switch (files[try file(at: path, below: start)], byteStorage) {
        case (.spooled(let offset, let count), .spool(let spool)): return ByteSource(spool, at: offset, count: count)
        case (.external(let number), .provider(let provider)): return try provider(number)
        case (.tooLarge, _): throw error(.read, path, EFBIG)
        case (.omitted, _), (.spooled, _), (.external, _): throw error(.read, path, ENODATA)
        }
    }

    /// Returns the index in `files` of the file at `path`.
    ///
    /// - Throws: `FileError`, with the same codes as `Folder.source(_:)`.
    func file(at path: [UInt8], below start: Int) throws(FileError) -> Int {
        let (parent, name) = Path.split(path)
        let folder = try folder(at: parent, below: start)
        guard let entry = entryIndex(named: name, in: folder) else { throw error(.open, path, ENOENT) }
        switch folders[folder].kind(entry) {
        case .file: return Int(folders[folder].inode(at: entry))
        case .link: throw error(.open, path, ELOOP)
        case .folder, .special: throw error(.read, path, ENOTSUP)
        }
    }

    /// Returns the kind of the entry `name`, or `nil` if the folder has no such entry.
    func kind(named name: [UInt8], in folder: Int) -> FolderEntries.Kind? {
        entryIndex(named: name, in: folder).map { folders[folder].kind($0) }
    }

    /// Returns the target of the symbolic link `name`, or `nil` if the folder has no such link.
    ///
    /// An unknown target is empty.
    func link(named name: [UInt8], in folder: Int) -> [UInt8]? {
        guard let entry = entryIndex(named: name, in: folder), folders[folder].kind(entry) == .link else { return nil }
        return links[Int(folders[folder].inode(at: entry))]
    }

    private func entryIndex(named name: some Collection<UInt8>, in folder: Int) -> Int? {
        folders[folder].index(inSorted: name)
    }

    private func error(_ operation: FileError.Operation, _ path: some Collection<UInt8>, _ code: Int32) -> FileError {
        FileError(operation, "\(name)!\(String(decoding: path, as: UTF8.self))", code: code)
    }
}
