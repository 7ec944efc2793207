import CLibrary

/// A folder into which files are copied, each of which gets its name in the folder only when its group is complete.
///
/// Until then, the files are in a hidden folder, to which only the user has access. It remains after an interruption, so
/// that the next run continues the copies. It is locked against other runs.
public struct StagedFolder: ~Copyable {
    /// The path of the folder.
    public let path: String
    /// The path of the hidden folder.
    public let stagePath: String
    private let folder: Descriptor
    private let stage: Descriptor
    private let stageName: String

    /// Opens or creates the folder, and locks its hidden folder `.NAME.partial`.
    ///
    /// - Throws: `FileError`: `lock` with `EWOULDBLOCK` while another run uses the folder, or `create` if the hidden folder
    ///   belongs to another user.
    public init(path: String, for name: String) throws(FileError) {
        let stageName = PartialName.make(for: name)
        let path = Path.withoutTrailingSlashes(path)
        let stagePath = Self.stagePath(in: path, for: name)
        try PrivateFolder.create(path)
        let folder = try Descriptor(CLibrary.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        guard mkdirat(folder.number, stageName, 0o700) == 0 || errno == EEXIST else {
            throw FileError(.create, stagePath)
        }
        let stage = try folder.folder(stageName, .create, stagePath)
        guard try stage.status(stagePath).st_uid == geteuid() else { throw FileError(.create, stagePath, code: EPERM) }
        guard flock(stage.number, LOCK_EX | LOCK_NB) == 0 else { throw FileError(.lock, path) }
        self.path = path
        self.stagePath = stagePath
        self.stageName = stageName
        self.folder = folder
        self.stage = stage
    }

    /// Returns the path of the hidden folder for `name` in the folder at `path`.
    public static func stagePath(in path: String, for name: String) -> String {
        Path.entry(PartialName.make(for: name), of: Path.withoutTrailingSlashes(path))
    }

    /// Removes the hidden folder if it is empty.
    deinit { unlinkat(folder.number, stageName, AT_REMOVEDIR) }

    /// Returns the names of the files and folders in the folder, without the hidden folder, in the order of their bytes.
    public func names() throws(FileError) -> [String] {
        try PartialFolder.names(in: folder, path).filter { $0 != stageName }
    }

    /// Returns the names of the copies in the hidden folder, in the order of their bytes.
    public func stagedNames() throws(FileError) -> [String] { try PartialFolder.names(in: stage, stagePath) }

    /// Returns the path of the file `name` in the folder.
    public func path(of name: String) -> String { Path.entry(name, of: path) }

    /// Returns the path of the copy `name` in the hidden folder.
    public func stagedPath(of name: String) -> String { "\(stagePath)/\(name)" }

    /// The number of bytes that this user can still write to the file system.
    public func freeByteCount() throws(FileError) -> Int {
        var status = statvfs()
        guard fstatvfs(folder.number, &status) == 0 else { throw FileError(.stat, path) }
        let (bytes, hasOverflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return hasOverflow ? .max : Int(clamping: bytes)
    }

    /// Opens the copy `name` for appending, and creates it if it does not exist.
    public func open(_ name: String) throws(FileError) -> Copy {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let path = stagedPath(of: name)
        let file = try Descriptor(openat(stage.number, name, flags, 0o600), .create, path)
        let status = try file.status(path)
        guard status.isRegular else { throw FileError(.create, path, code: ENOTSUP) }
        return Copy(descriptor: file, path: path, size: Int(status.st_size))
    }

    /// A copy in the hidden folder.
    public struct Copy: ~Copyable {
        fileprivate let descriptor: Descriptor
        fileprivate let path: String
        /// The size in bytes, to which appended bytes are added.
        public private(set) var size: Int

        /// Appends bytes.
        public mutating func append(_ bytes: Span<UInt8>) throws(FileError) {
            guard lseek(descriptor.number, off_t(size), SEEK_SET) >= 0 else { throw FileError(.write, path) }
            try PartialFolder.write(bytes, to: descriptor, path)
            size += bytes.count
        }

        /// Removes all bytes after the first `count`.
        public mutating func truncate(to count: Int) throws(FileError) {
            guard ftruncate(descriptor.number, off_t(count)) == 0 else { throw FileError(.write, path) }
            size = count
        }

        /// Makes the bytes durable.
        public func sync() throws(FileError) {
            guard fsync(descriptor.number) == 0 else { throw FileError(.sync, path) }
        }
    }

    /// Removes copies from the hidden folder, if they exist.
    public func discard(_ names: [String]) { PartialFolder.remove(names, from: stage) }

    /// Removes files from the folder, if they exist.
    public func remove(_ names: [String]) { PartialFolder.remove(names, from: folder) }

    /// Moves complete copies into the folder, without replacing other files.
    ///
    /// The last one is moved when the others are durable. If it exists in the folder, so do the others.
    ///
    /// - Throws: `FileError`, with the code `EEXIST` if a file with one of the names exists. Files that were moved are then
    ///   moved back.
    public func publish(_ names: [String]) throws(FileError) {
        try stage.syncFolder(stagePath)
        var moved: [String] = []
        do throws(FileError) {
            for name in names {
                if moved.count == names.count - 1 { try folder.syncFolder(path) }
                try move(name, from: stage, to: folder)
                moved.append(name)
            }
        } catch {
            // Errors are ignored, because the next run moves the rest back.
            for name in moved { try? move(name, from: folder, to: stage) }
            throw error
        }
        try folder.syncFolder(path)
    }

    /// Moves files of an interrupted ``publish(_:)`` back to the hidden folder.
    ///
    /// Names that are not in the folder are ignored.
    public func withdraw(_ names: [String]) throws(FileError) {
        for name in names {
            do throws(FileError) {
                try move(name, from: folder, to: stage)
            } catch {
                guard error.alreadyExists || error.isNotFound else { throw error }
                // The file in the folder is complete, unlike the copy.
                guard error.alreadyExists else { continue }
                discard([name])
                try move(name, from: folder, to: stage)
            }
        }
    }

    private func move(_ name: String, from old: borrowing Descriptor, to new: borrowing Descriptor) throws(FileError) {
        let code = old.move(name, to: name, in: new)
        guard code == 0 else { throw FileError(.create, Path.entry(name, of: path), code: code) }
    }
}
