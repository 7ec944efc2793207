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
}

/// The identity of a path, by which paths are compared that may refer to the same file.
///
/// A file that exists is identified by its device and inode number. Therefore, all its links and spellings have the same
/// identity. A file that does not exist is identified by the identity of its folder and by its name. Names that differ
/// only in letter case or in Unicode normalization are equal then, because some file systems do not distinguish them.
public indirect enum PathIdentity: Hashable, Sendable {
    /// A regular file or a folder.
    case existing(FileIdentity)
    /// A file that does not exist.
    case missing(folder: PathIdentity?, name: String)

    /// The maximum number of symbolic links that are followed, as in Linux.
    private static let maximumLinkCount = 40

    /// Creates the identity of `path`.
    ///
    /// Returns `nil` if `path` is empty, or refers to a pipe, a socket or a device, which several options can share.
    public init?(path: String) { self.init(path: path, linkCount: 0) }

    private init?(path: String, linkCount: Int) {
        guard !path.isEmpty, linkCount < Self.maximumLinkCount else { return nil }
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.isRegular || status.isFolder else { return nil }
            self = .existing(FileIdentity(status))
            return
        }
        let trimmed = Path.withoutTrailingSlashes(path)
        let folder = Path.folder(of: trimmed)
        if let target = Self.target(ofLink: trimmed) {
            self.init(path: target.hasPrefix("/") ? target : "\(folder)/\(target)", linkCount: linkCount + 1)
        } else {
            let isRoot = trimmed == "/" || trimmed == "."
            self = .missing(
                folder: isRoot ? nil : PathIdentity(path: folder, linkCount: linkCount),
                name: Path.lastName(of: trimmed).lowercased())
        }
    }

    /// Returns the path that is stored in the symbolic link at `path`, or `nil` if `path` is not a symbolic link.
    private static func target(ofLink path: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlink(path, $0, buffer.count))
            }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
