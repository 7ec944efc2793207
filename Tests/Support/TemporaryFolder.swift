import Foundation

/// A folder that is removed with its contents at the end of a test.
public final class TemporaryFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// Creates a folder, in memory if `inMemory` is `true` and the system supports it.
    public init(inMemory: Bool = false) throws {
        let base = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        path = "\(base)/pingferry-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file in the folder.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The sorted names of all files and folders in the folder, including hidden ones.
    public var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Creates an executable file with the contents `script` and the folders above it, and returns its path.
    ///
    /// Another process writes the file. If this process did, a program that another test starts at the same time would
    /// inherit the open descriptor for a moment, and running the script would fail with `ETXTBSY`.
    @discardableResult
    public func putProgram(_ script: String, _ name: String) throws -> String {
        let install = #"mkdir -p "${1%/*}" && cat > "$1" && chmod 755 "$1""#
        try tool(["sh", "-c", install, "sh", self(name)], input: Array(script.utf8))
        return self(name)
    }

    /// Writes a file, and creates the folders above it.
    ///
    /// Use ``putProgram(_:_:)`` for an executable file.
    @discardableResult
    public func put(_ contents: String, _ name: String, mode: Int = 0o644) throws -> String {
        precondition(mode & 0o111 == 0, "executable files must be written with putProgram")
        // Foundation's `deletingLastPathComponent` is not used because it crashes on a name of one character.
        if let slash = name.lastIndex(of: "/") { try makeFolder(String(name[..<slash])) }
        try Data(contents.utf8).write(to: URL(fileURLWithPath: self(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
        return self(name)
    }

    /// Creates a folder and the folders above it, and returns its path.
    @discardableResult
    public func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
        return self(name)
    }

    /// Returns the contents of a file.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }

    /// Returns the contents of a text file.
    public func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
}
