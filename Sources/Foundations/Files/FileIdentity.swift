import Glibc

/// The device and inode number that identify a file regardless of its name.
public struct FileIdentity: Hashable, Sendable {
    /// The device (`st_dev`).
    public let device: UInt64
    /// The inode number (`st_ino`).
    public let inode: UInt64

    /// Creates an identity from the numbers that `stat` returns.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Creates the identity of the file at `path`, or returns `nil` if the file does not exist.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Returns whether two paths refer to the same file, or to the same missing entry of a folder.
    public static func isShared(by first: String, and second: String) -> Bool {
        if let identity = FileIdentity(path: first) { return identity == FileIdentity(path: second) }
        let folders = (Path.folder(of: first), Path.folder(of: second))
        return Path.lastName(of: first) == Path.lastName(of: second)
            && (folders.0 == folders.1 || FileIdentity(path: folders.0) == FileIdentity(path: folders.1))
    }
}
