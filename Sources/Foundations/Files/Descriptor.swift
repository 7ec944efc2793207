import CFiles
import CLibrary

/// An open file descriptor, which is closed when the value is destroyed.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Creates the owner of `number`, which `open` or `openat` returned.
    ///
    /// - Throws: ``FileError`` with the current `errno` if `number` is negative.
    init(_ number: Int32, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        guard number >= 0 else { throw FileError(operation, path) }
        self.number = number
    }

    deinit { close(number) }

    /// Returns the result of `fstat`, or throws an error that contains `path`.
    func status(_ path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw FileError(.stat, path) }
        return status
    }

    /// Returns the status of the entry `name` of this folder without following a symbolic link, or `nil` with an `errno`
    /// code.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Opens the folder `name` in this folder, unless it is a symbolic link.
    func folder(
        _ name: String, _ operation: FileError.Operation, _ path: String
    ) throws(FileError) -> Descriptor {
        try Descriptor(openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), operation, path)
    }

    /// Changes the owner and the group of a file of root to those of `folder` if the program runs as root.
    ///
    /// Otherwise, a service that runs as the owner of the folder could not open a file that root created beside its own.
    func adoptOwner(of folder: borrowing Descriptor, _ path: String) throws(FileError) {
        guard geteuid() == 0, try status(path).st_uid == 0 else { return }
        let owner = try folder.status(path)
        // EINVAL means that this namespace has no such user, so that no service of it can run as the owner.
        guard owner.st_uid != 0, fchown(number, owner.st_uid, owner.st_gid) != 0, errno != EINVAL else { return }
        throw FileError(.create, path)
    }

    /// Moves the entry `name` of this folder into `folder`, without replacing an existing file.
    ///
    /// - Returns: 0, or an `errno` code, which is `EEXIST` if `newName` exists in `folder`, or `ENOTSUP` if the file
    ///   system does not support this.
    func move(_ name: String, to newName: String, in folder: borrowing Descriptor) -> Int32 {
        let code = cfiles_rename_no_replace(number, name, folder.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // This file system does not support renaming without replacement, but creating a hard link never replaces a
        // file.
        guard linkat(number, name, folder.number, newName, 0) == 0 else {
            return [EPERM, ENOSYS].contains(errno) ? ENOTSUP : errno
        }
        guard unlinkat(number, name, 0) == 0 else {
            let code = errno
            unlinkat(folder.number, newName, 0)
            return code
        }
        return 0
    }

    /// Renames the entry `name` of this folder to `newName` in `folder`, without replacing an existing file if the file
    /// system supports that.
    ///
    /// - Returns: 0, or an `errno` code, which is `EEXIST` if `newName` exists in `folder`.
    func rename(_ name: String, to newName: String, in folder: borrowing Descriptor) -> Int32 {
        let code = cfiles_rename_no_replace(number, name, folder.number, newName)
        guard code == EINVAL || code == ENOSYS else { return code }
        // The caller has checked that the name is unused. A folder that is not empty is never replaced.
        return renameat(number, name, folder.number, newName) == 0 ? 0 : errno
    }

    /// Makes the entries of a folder durable, unless its file system does not support that (`EINVAL`).
    func syncFolder(_ path: String) throws(FileError) {
        guard fsync(number) == 0 || errno == EINVAL else { throw FileError(.sync, path) }
    }

    /// Appends bytes from `offset` onward until the output is full, `limit` bytes were appended, or the file ends.
    ///
    /// Returns the number of appended bytes.
    func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>, _ operation: FileError.Operation,
        _ path: @autoclosure () -> String
    ) throws(FileError) -> Int {
        try output.fill(upTo: limit, operation, path()) { free, count in
            pread(number, free.baseAddress, free.count, off_t(offset + count))
        }
    }
}

/// Functions that create folders to which only their owner has access.
public enum PrivateFolder {
    /// Creates the folder at `path`, and the folders that contain it, unless they exist.
    ///
    /// If root creates a folder, it belongs to the owner of the folder in which it is.
    public static func create(_ path: String) throws(FileError) {
        let path = Path.withoutTrailingSlashes(path)
        guard access(path, F_OK) != 0 else { return }
        let (code, parent) = (errno, Path.folder(of: path))
        // The current folder can be inaccessible. It has no parent in its path.
        guard code == ENOENT, parent != path else { throw FileError(.create, path, code: code) }
        try create(parent)
        let name = Path.name(of: path)
        // The new folder is opened relative to its parent, because the owner of the parent can replace it by a link.
        let owner = try Descriptor(open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        guard mkdirat(owner.number, name, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw FileError(.create, path)
        }
        try owner.folder(name, .create, path).adoptOwner(of: owner, path)
    }
}

extension OutputSpan<UInt8> {
    /// Calls `read` with the free part of the output until it is full, contains `limit` more bytes, or the input ends.
    ///
    /// `read` also receives the number of bytes read so far, and returns the result of a system call. The method
    /// returns the total number of appended bytes.
    package mutating func fill(
        upTo limit: Int = .max, _ operation: FileError.Operation, _ path: @autoclosure () -> String,
        _ read: (UnsafeMutableBufferPointer<UInt8>, Int) -> Int
    ) throws(FileError) -> Int {
        let requested = min(freeCapacity, limit)
        var total = 0
        while total < requested {
            let result = withUnsafeMutableBufferPointer { buffer, count in
                let free = UnsafeMutableBufferPointer(rebasing: buffer[count..<count + requested - total])
                let result = read(free, total)
                count += max(result, 0)
                return result
            }
            guard result != 0 else { break }
            guard result > 0 || errno == EINTR else { throw FileError(operation, path()) }
            total += max(result, 0)
        }
        return total
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
}

/// The limit on the number of files that this process can keep open at the same time.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, and returns whether `count` more files can be opened.
    public static func allowsOpening(_ count: Int) -> Bool {
        cfiles_raise_open_file_limit()
        var openDescriptors: [Int32] = []
        defer { for number in openDescriptors { close(number) } }
        while openDescriptors.count < count {
            let number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
            guard number >= 0 else { return false }
            openDescriptors.append(number)
        }
        return true
    }
}
