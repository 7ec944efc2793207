import Glibc

/// An open folder, listed and read from without following symbolic links.
public struct Folder: ~Copyable, Sendable {
    /// The path as given.
    public let path: String
    private let descriptor: Descriptor

    /// Opens a folder; the path itself may be a link.
    /// - Throws: `FileError`, such as `ENOTDIR` for something else.
    public init(path: String) throws(FileError) {
        descriptor = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path)
        self.path = path
    }

    /// Opens a folder below this one.
    /// - Throws: `FileError`; `ELOOP` or `ENOTDIR` if the last part of the path is a link.
    public func folder(at relative: String) throws(FileError) -> Folder {
        let full = relative.isEmpty ? path : "\(path)/\(relative)"
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        return Folder(
            path: full,
            descriptor: try Descriptor(
                openat(descriptor.number, relative.isEmpty ? "." : relative, flags), .open, full))
    }

    private init(path: String, descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// The entries, without `.` and `..`, in no order.
    /// - Throws: `FileError`.
    public func entries() throws(FileError) -> FolderEntries {
        // A directory stream owns its descriptor, so it gets one of its own.
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let code = errno
            if copy >= 0 { close(copy) }
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        var entries = FolderEntries()
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(.list, path) }
                return entries
            }
            let (kind, inode) = (entry.pointee.d_type, UInt64(entry.pointee.d_ino))
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    entries.append(name: name, kind: kind, inode: inode, in: descriptor.number)
                }
            }
        }
    }

    /// Reads a file in this folder into memory that is used again.
    ///
    /// - Parameters:
    ///   - name: the name, or a path below the folder, in UTF-8 or whatever the file system has, without a NUL.
    ///   - limit: the most bytes to accept.
    ///   - contents: replaced by the bytes of the file.
    /// - Throws: `FileError`; `EFBIG` beyond the limit, `ENOTSUP` for anything but a regular file, `ELOOP` for a link.
    public func read(_ name: [UInt8], limit: Int, into contents: inout [UInt8]) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        var status = stat()
        // The name with a NUL behind it stands where its contents will.
        contents += name
        contents.append(0)
        let file = try regularFile(named: contents, &status)
        contents.removeAll(keepingCapacity: true)
        guard status.st_size <= limit else { throw FileError(.read, full(name), code: EFBIG) }
        let code = contents.append(upTo: Int(status.st_size), from: file.number)
        guard code == 0 else { throw FileError(.read, full(name), code: code) }
    }

    /// Opens a file in this folder, for reading by position.
    /// - Parameter name: the name, or a path below the folder, without a NUL.
    /// - Throws: `FileError`; `ENOTSUP` for anything but a regular file, `ELOOP` for a link.
    public func file(_ name: [UInt8]) throws(FileError) -> InputFile {
        var status = stat()
        let file = try regularFile(named: name + [0], &status)
        return InputFile(file, path: full(name), status: status)
    }

    /// - Parameter name: with a NUL behind it.
    private func regularFile(named name: [UInt8], _ status: inout stat) throws(FileError) -> Descriptor {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let number = name.withUnsafeBufferPointer { text in
            text.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { openat(descriptor.number, $0, flags) } ?? -1
            }
        }
        guard number >= 0 else { throw FileError(.open, full(name.dropLast())) }
        let file = try Descriptor(number, .open, path)
        status = try file.status(path)
        guard status.isRegular else { throw FileError(.read, full(name.dropLast()), code: ENOTSUP) }
        return file
    }

    /// The device and inode of the folder.
    public func identity() throws(FileError) -> FileIdentity {
        FileIdentity(try descriptor.status(path))
    }

    private func full(_ name: some Collection<UInt8>) -> String {
        "\(path)/\(String(decoding: name, as: UTF8.self))"
    }
}

extension [UInt8] {
    /// Appends at most `count` bytes that a descriptor has next.
    /// - Returns: an `errno` code, or 0.
    fileprivate mutating func append(upTo count: Int, from descriptor: Int32) -> Int32 {
        guard count > 0 else { return 0 }
        var code: Int32 = 0
        append(addingCapacity: count) { output in
            output.withUnsafeMutableBufferPointer { buffer, initialized in
                while initialized < count {
                    let room = UnsafeMutableBufferPointer(rebasing: buffer[initialized..<count])
                    let result = Glibc.read(descriptor, room.baseAddress, room.count)
                    if result == 0 { return }
                    if result < 0 {
                        if errno == EINTR { continue }
                        code = errno
                        return
                    }
                    initialized += result
                }
            }
        }
        return code
    }
}
