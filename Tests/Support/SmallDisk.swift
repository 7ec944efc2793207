import Foundation

/// A small file system in memory, which exists as long as the value.
///
/// Only root can create one.
public final class SmallDisk: Sendable {
    private let folder: TemporaryFolder

    /// Whether this process can create such a file system.
    public static let isSupported: Bool = {
        guard let disk = try? SmallDisk(kibibytes: 100) else { return false }
        return FileManager.default.fileExists(atPath: disk.path)
    }()

    /// Creates a file system of the given size.
    public init(kibibytes: Int) throws {
        folder = try TemporaryFolder()
        try tool("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", folder.path)
    }

    deinit {
        // Each call removes the last of the mounts at the path.
        while (try? tool("umount", "-l", folder.path)) != nil {}
    }

    /// The path at which the file system is mounted.
    public var path: String { folder.path }

    /// The sorted names of all files and folders at the top level, including hidden ones.
    public var names: [String] { folder.names }

    /// Returns the path of a file with the given name.
    public func callAsFunction(_ name: String) -> String { folder(name) }

    /// Changes the size of the file system.
    public func enlarge(kibibytes: Int) throws {
        try tool("mount", "-o", "remount,size=\(kibibytes)k", folder.path)
    }

    /// Mounts the file system a second time at the same path, as read-only.
    ///
    /// Changing the first mount would fail while a file is open for writing. A program that another test starts can
    /// briefly have the files of this process open.
    public func makeReadOnly() throws { try tool("mount", "-o", "bind,ro", folder.path, folder.path) }
}
