import Foundation

/// A file system in memory that is as small as wanted, and goes with the value. Only root can have one.
public final class SmallDisk: Sendable {
    private let folder: TemporaryFolder

    /// Whether there can be one here.
    public static let isPossible: Bool = {
        guard let disk = try? SmallDisk(kibibytes: 100) else { return false }
        return FileManager.default.fileExists(atPath: disk.path)
    }()

    /// Makes one.
    public init(kibibytes: Int) throws {
        folder = try TemporaryFolder()
        try tool("mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", folder.path)
    }

    deinit {
        // Of two mounts at the path, each call removes the upper one.
        while (try? tool("umount", "-l", folder.path)) != nil {}
    }

    /// Where it is mounted.
    public var path: String { folder.path }

    /// The names of what is on it, hidden ones too, sorted.
    public var names: [String] { folder.names }

    /// The path of something on it.
    public func callAsFunction(_ name: String) -> String { folder(name) }

    /// Gives it another size.
    public func enlarge(kibibytes: Int) throws {
        try tool("mount", "-o", "remount,size=\(kibibytes)k", folder.path)
    }

    /// Mounts the disk again at the same path, as read-only.
    ///
    /// To change the first mount would fail while a file is open for writing. A program that another test starts has all files
    /// of this process open for a moment.
    public func makeReadOnly() throws { try tool("mount", "-o", "bind,ro", folder.path, folder.path) }
}
