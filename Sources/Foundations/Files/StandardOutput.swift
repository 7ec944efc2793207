import Glibc

/// Unbuffered access to the standard output.
public enum StandardOutput {
    /// Whether the standard output is a terminal.
    public static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Returns whether `path` is an alias of the standard output, such as `/dev/stdout`.
    ///
    /// The path of a file to which the standard output is redirected is not an alias.
    public static func isNamed(by path: String) -> Bool {
        var (named, standard) = (stat(), stat())
        guard path.hasPrefix("/dev/") || path.hasPrefix("/proc/"), fstatat(AT_FDCWD, path, &named, 0) == 0,
            fstat(STDOUT_FILENO, &standard) == 0
        else { return false }
        return FileIdentity(named) == FileIdentity(standard)
    }

    /// Writes all bytes.
    ///
    /// If the reader has closed the pipe, SIGPIPE ends the process.
    public static func write(_ bytes: Span<UInt8>) throws(FileError) {
        let code = bytes.writeAll(to: STDOUT_FILENO)
        guard code == 0 else { throw FileError(.write, "standard output", code: code) }
    }
}

extension Span<UInt8> {
    /// Writes all bytes to `descriptor`, beginning at `offset` or, if that is `nil`, at the current offset of the file.
    ///
    /// Returns 0 or an `errno` code.
    func writeAll(to descriptor: Int32, at offset: Int? = nil) -> Int32 {
        withUnsafeBytes { buffer in
            var writtenCount = 0
            while writtenCount < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[writtenCount...])
                let result =
                    if let offset {
                        pwrite(descriptor, rest.baseAddress, rest.count, offset + writtenCount)
                    } else {
                        Glibc.write(descriptor, rest.baseAddress, rest.count)
                    }
                if result < 0, errno != EINTR { return errno }
                writtenCount += Swift.max(result, 0)
            }
            return 0
        }
    }
}
