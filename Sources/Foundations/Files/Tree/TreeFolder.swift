import Glibc

/// A folder of a capture, on disk or of an archive in the spool; either way links are not followed.
public struct TreeFolder: ~Copyable, Sendable {
    private enum Place: ~Copyable, Sendable {
        case disk(Folder)
        case spooled(SpooledTree, folder: Int)
    }

    private let place: Place
    /// Files that were read already.
    private let kept: KeptFiles.Contents

    /// A folder on disk.
    public init(_ folder: consuming Folder) {
        self.init(.disk(folder), [:])
    }

    /// The folder that an archive in the spool was made of.
    public init(rootOf tree: SpooledTree) {
        self.init(.spooled(tree, folder: SpooledTree.root), [:])
    }

    private init(_ place: consuming Place, _ kept: KeptFiles.Contents) {
        self.place = place
        self.kept = kept
    }

    /// Opens a folder below this one.
    /// - Throws: `FileError`, as `Folder` does.
    public func folder(at relative: String) throws(FileError) -> TreeFolder { try folder(at: relative, [:]) }

    /// Opens a folder below this one of whose files some were read already.
    func folder(at relative: String, _ kept: KeptFiles.Contents) throws(FileError) -> TreeFolder {
        switch place {
        case .disk(let folder): TreeFolder(.disk(try folder.folder(at: relative)), kept)
        case .spooled(let tree, let folder):
            TreeFolder(.spooled(tree, folder: try tree.folder(at: relative.utf8, below: folder)), kept)
        }
    }

    /// The entries, without `.` and `..`, in no order.
    /// - Throws: `FileError`.
    public func entries() throws(FileError) -> FolderEntries {
        switch place {
        case .disk(let folder): try folder.entries()
        case .spooled(let tree, let folder): tree.entries(of: folder)
        }
    }

    /// Reads a file into memory that is used again.
    ///
    /// - Parameters:
    ///   - name: the name, or a path below the folder, without a NUL.
    ///   - limit: the most bytes to accept.
    ///   - contents: replaced by the bytes of the file.
    /// - Throws: `FileError`; `EFBIG` beyond the limit, `ENOTSUP` for anything but a regular file, `ELOOP` for a link.
    public func read(_ name: [UInt8], limit: Int, into contents: inout [UInt8]) throws(FileError) {
        if !kept.isEmpty, let bytes = kept[name], bytes.count <= limit {
            contents.removeAll(keepingCapacity: true)
            contents += bytes
            return
        }
        switch place {
        case .disk(let folder): try folder.read(name, limit: limit, into: &contents)
        case .spooled(let tree, let folder): try tree.read(name, below: folder, limit: limit, into: &contents)
        }
    }

    /// A file to be read by position, one that may be too large for memory.
    /// - Parameter name: as for ``read(_:limit:into:)``.
    /// - Throws: `FileError`.
    public func source(_ name: [UInt8]) throws(FileError) -> ByteSource {
        switch place {
        case .disk(let folder): ByteSource(try folder.file(name))
        case .spooled(let tree, let folder): try tree.source(name, below: folder)
        }
    }

    /// The device that the inode numbers of the entries belong to; nil if they are none.
    public func device() throws(FileError) -> UInt64? {
        switch place {
        case .disk(let folder): try folder.identity().device
        case .spooled: nil
        }
    }
}
