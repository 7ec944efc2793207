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

    deinit { _ = try? tool("umount", "-l", folder.path) }

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

    /// Lets nobody write to it any more.
    public func makeReadOnly() throws { try tool("mount", "-o", "remount,ro", folder.path) }
}
