import Glibc

/// An output to a pipe or a character device, such as `/dev/null`, `/dev/stdout` or the process substitution `>(…)`.
///
/// There is no temporary file and no commit, because written bytes cannot be taken back.
public struct StreamOutput: ~Copyable, Sendable {
    private let path: String
    private let descriptor: Descriptor

    /// Opens a pipe or character device, or returns `nil` if the path refers to anything else.
    ///
    /// Waits until a named pipe has a reader.
    public init?(path: String) throws(FileError) {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0, status.isStream else { return nil }
        let descriptor = try Descriptor(open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), .create, path)
        // The path may refer to another file meanwhile.
        guard try descriptor.status(path).isStream else { throw FileError(.replace, path, code: ENOTSUP) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Whether the output is a terminal.
    public var isTerminal: Bool { isatty(descriptor.number) == 1 }

    /// Writes all bytes.
    ///
    /// If the reader has closed the pipe, SIGPIPE ends the process.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        let code = bytes.writeAll(to: descriptor.number)
        guard code == 0 else { throw FileError(.write, path, code: code) }
    }
}

extension stat {
    fileprivate var isStream: Bool { [S_IFIFO, S_IFCHR].contains(st_mode & S_IFMT) }
}
