import Glibc

/// A folder of a capture, on disk or of an archive in the spool, listed and read from without following symbolic links.
public struct Folder: ~Copyable, Sendable {
    /// Not private: optimized code of other rooms that lets go of a folder lets go of this.
    enum Place: ~Copyable, Sendable {
        case disk(Descriptor)
        case spooled(SpooledTree, folder: Int)
    }

    private let place: Place
    /// The path as given, for messages; empty for a folder of an archive.
    private let path: String

    /// Opens a folder on disk; the path itself may be a link.
    /// - Throws: `FileError`, such as `ENOTDIR` for something else.
    public init(path: String) throws(FileError) {
        let descriptor = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path)
        self.init(.disk(descriptor), path: path)
    }

    /// The folder that an archive in the spool was made of.
    public init(rootOf tree: SpooledTree) {
        self.init(.spooled(tree, folder: SpooledTree.root), path: "")
    }

    private init(_ place: consuming Place, path: String) {
        self.place = place
        self.path = path
    }

    /// Opens a folder below this one.
    /// - Throws: `FileError`; `ELOOP` or `ENOTDIR` if the last part of the path is a link.
    public func folder(at relative: String) throws(FileError) -> Folder {
        try folder(atStored: try storedPath(of: relative))
    }

    /// Opens a folder by the bytes of its path below this one.
    func folder(atStored relative: [UInt8]) throws(FileError) -> Folder {
        switch place {
        case .disk(let descriptor):
            let full = relative.isEmpty ? path : full(relative)
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let number = descriptor.number
            let name = (relative.isEmpty ? [UInt8(ascii: ".")] : relative) + [0]
            let opened = name.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    characters.baseAddress.map { openat(number, $0, flags) } ?? -1
                }
            }
            return Folder(.disk(try Descriptor(opened, .open, full)), path: full)
        case .spooled(let tree, let folder):
            return Folder(.spooled(tree, folder: try tree.folder(at: relative, below: folder)), path: "")
        }
    }

    /// The entries, without `.` and `..`, in no order.
    public func entries() throws(FileError) -> FolderEntries {
        switch place {
        case .disk(let descriptor): try FolderEntries(of: descriptor, path)
        case .spooled(let tree, let folder): tree.entries(of: folder)
        }
    }

    /// Reads a file into memory that is used again.
    ///
    /// - Parameters:
    ///   - name: the name, or a path below the folder, in UTF-8 or whatever the file system has, without a NUL.
    ///   - limit: the most bytes to accept.
    ///   - contents: replaced by the bytes of the file.
    /// - Throws: `FileError`; `EFBIG` beyond the limit, `ENOTSUP` for anything but a regular file, `ELOOP` for a link.
    public func read(_ name: [UInt8], limit: Int, into contents: inout [UInt8]) throws(FileError) {
        switch place {
        case .disk(let descriptor): try read(name, of: descriptor, limit: limit, into: &contents)
        case .spooled(let tree, let folder): try tree.read(name, below: folder, limit: limit, into: &contents)
        }
    }

    /// A file to be read by position, one that may be too large for memory.
    /// - Parameter name: as for ``read(_:limit:into:)``.
    /// - Throws: `FileError`; `ENOTSUP` for anything but a regular file, `ELOOP` for a link.
    public func source(_ name: [UInt8]) throws(FileError) -> ByteSource {
        switch place {
        case .disk(let descriptor):
            var status = stat()
            let file = try regularFile(named: name + [0], of: descriptor, &status)
            return ByteSource(InputFile(file, path: full(name), status: status))
        case .spooled(let tree, let folder): return try tree.source(name, below: folder)
        }
    }

    /// Where a symbolic link below the folder leads, without following it.
    /// - Parameter path: the path of the link.
    /// - Returns: nil if it is no link any more.
    public func target(ofLink path: [UInt8]) -> LinkTarget? {
        switch place {
        case .disk(let descriptor): target(ofLink: path, below: descriptor)
        case .spooled(let tree, let folder): tree.target(ofLink: path, below: folder)
        }
    }

    /// The device that the inode numbers of the entries belong to; nil if they are none.
    public func device() throws(FileError) -> UInt64? {
        switch place {
        case .disk(let descriptor): FileIdentity(try descriptor.status(path)).device
        case .spooled: nil
        }
    }

    private func full(_ name: some Collection<UInt8>) -> String {
        "\(path)/\(String(decoding: name, as: UTF8.self))"
    }
}

// MARK: - On disk

extension Folder {
    private func read(
        _ name: [UInt8], of descriptor: borrowing Descriptor, limit: Int, into contents: inout [UInt8]
    ) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        var status = stat()
        // The name with a NUL behind it stands where its contents will.
        contents += name
        contents.append(0)
        let file = try regularFile(named: contents, of: descriptor, &status)
        contents.removeAll(keepingCapacity: true)
        guard status.st_size <= limit else { throw FileError(.read, full(name), code: EFBIG) }
        let size = Int(status.st_size)
        try contents.append(addingCapacity: size) { output throws(FileError) in
            _ = try file.read(at: 0, upTo: size, into: &output, .read, full(name))
        }
    }

    private func target(ofLink path: [UInt8], below descriptor: borrowing Descriptor) -> LinkTarget? {
        let number = descriptor.number
        var (text, status) = ([UInt8](), stat())
        // Only what it is gets asked: nothing is opened or read there.
        let code: Int32? = (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let link = characters.baseAddress, let found = Self.text(ofLink: link, in: number) else {
                    return nil
                }
                text = found
                return fstatat(number, link, &status, 0) == 0 ? 0 : errno
            }
        }
        guard let code else { return nil }
        let words = LinkWords(text, in: path.split(separator: UInt8(ascii: "/")).dropLast().map { Array($0) })
        let destination: LinkTarget.Destination =
            switch code {
            case 0 where status.st_mode & S_IFMT == S_IFDIR: words.isEnclosing ? .enclosingFolder : .folder
            case 0: words.parts == nil ? .fileOutside : .file
            case ELOOP: .nothing
            case ENOENT, ENOTDIR: words.parts == nil ? .unknown : .nothing
            default: .unknown
            }
        return LinkTarget(path: String(decoding: text, as: UTF8.self), destination: destination)
    }

    /// What stands in a link; nil if it is none.
    private static func text(ofLink link: UnsafePointer<CChar>, in folder: Int32) -> [UInt8]? {
        let text = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlinkat(folder, link, $0, buffer.count))
            }
        }
        return text.isEmpty ? nil : text
    }

    /// - Parameter name: with a NUL behind it.
    private func regularFile(
        named name: [UInt8], of descriptor: borrowing Descriptor, _ status: inout stat
    ) throws(FileError) -> Descriptor {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let parent = descriptor.number
        let number = name.withUnsafeBufferPointer { text in
            text.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { openat(parent, $0, flags) } ?? -1
            }
        }
        guard number >= 0 else { throw FileError(.open, full(name.dropLast())) }
        let file = try Descriptor(number, .open, path)
        status = try file.status(path)
        guard status.isRegular else { throw FileError(.read, full(name.dropLast()), code: ENOTSUP) }
        return file
    }
}
