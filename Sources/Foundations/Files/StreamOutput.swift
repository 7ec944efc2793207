import Glibc

/// A pipe or a character device, such as `/dev/null`, `/dev/stdout` or what a shell makes of `>(…)`: bytes that are written
/// there are gone, so there is nothing to be completed.
public struct StreamOutput: ~Copyable, Sendable {
    private let path: String
    private let descriptor: Descriptor

    /// Opens what a path leads to; nil if that is neither a pipe nor a character device. Waits until a named pipe has a
    /// reader, as a shell does.
    /// - Throws: `FileError`, if it cannot be opened.
    public init?(path: String) throws(FileError) {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0, status.isStream else { return nil }
        let descriptor = try Descriptor(open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), .create, path)
        // Something else may have taken the name meanwhile.
        guard try descriptor.status(path).isStream else { throw FileError(.replace, path, code: ENOTSUP) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Whether it is a terminal.
    public var isTerminal: Bool { isatty(descriptor.number) == 1 }

    /// Writes bytes; all of them, or an error. A reader that has gone away ends the program by SIGPIPE, as usual.
    public func write(_ bytes: Span<UInt8>) throws(FileError) {
        let code = bytes.writeAll(to: descriptor.number)
        guard code == 0 else { throw FileError(.write, path, code: code) }
    }
}

extension stat {
    fileprivate var isStream: Bool { [S_IFIFO, S_IFCHR].contains(st_mode & S_IFMT) }
}
