import Foundation

/// A folder that is removed with all that is in it at the end of a test.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let path: String

    /// Makes one; in memory where that is asked for and there is such a place, for tests that write much and often.
    public init(inMemory: Bool = false) throws {
        let base = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        path = "\(base)/pingferry-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in it.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in it, hidden ones too, sorted.
    public var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Creates an executable file with the contents `script`, and the folders above it.
    ///
    /// Another process writes the file. If this process did, a program that another test starts at the same time would
    /// inherit the open descriptor for a moment, and running the script would fail with `ETXTBSY`.
    @discardableResult
    public func putProgram(_ script: String, _ name: String) throws -> String {
        let install = #"mkdir -p "${1%/*}" && cat > "$1" && chmod 755 "$1""#
        try tool(["sh", "-c", install, "sh", self(name)], input: Array(script.utf8))
        return self(name)
    }

    /// Writes a file, with the folders that it needs. Use ``putProgram(_:_:)`` for a file that is going to be executed.
    @discardableResult
    public func put(_ contents: String, _ name: String, mode: Int = 0o644) throws -> String {
        precondition(mode & 0o111 == 0, "a program is written by putProgram")
        // Not Foundation's `deletingLastPathComponent`, which traps on a name of one character.
        if let slash = name.lastIndex(of: "/") { try makeFolder(String(name[..<slash])) }
        try Data(contents.utf8).write(to: URL(fileURLWithPath: self(name)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
        return self(name)
    }

    /// Makes a folder, with those that it stands in.
    @discardableResult
    public func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
        return self(name)
    }

    /// What a file holds.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }

    /// What a file of text holds.
    public func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
}
