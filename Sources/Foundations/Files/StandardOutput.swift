import Glibc

/// The standard output, without a buffer of its own.
public enum StandardOutput {
    /// Whether it is a terminal.
    public static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a path is another name of it, such as `/dev/stdout`: not that of a file that it happens to go to.
    public static func isNamed(by path: String) -> Bool {
        var (named, standard) = (stat(), stat())
        guard path.hasPrefix("/dev/") || path.hasPrefix("/proc/"), fstatat(AT_FDCWD, path, &named, 0) == 0,
            fstat(STDOUT_FILENO, &standard) == 0
        else { return false }
        return FileIdentity(named) == FileIdentity(standard)
    }

    /// Writes bytes; all of them, or an error. A reader that has gone away ends the program by SIGPIPE, as usual.
    public static func write(_ bytes: Span<UInt8>) throws(FileError) {
        let code = bytes.writeAll(to: STDOUT_FILENO)
        guard code == 0 else { throw FileError(.write, "standard output", code: code) }
    }
}

extension Span<UInt8> {
    /// Writes the bytes to a descriptor, over short writes and interruptions.
    /// - Parameter offset: The offset in the file, or `nil` for the current one.
    /// - Returns: an `errno` code, or 0.
    func writeAll(to descriptor: Int32, at offset: Int? = nil) -> Int32 {
        withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                let result =
                    if let offset {
                        pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
                    } else {
                        Glibc.write(descriptor, rest.baseAddress, rest.count)
                    }
                if result < 0, errno != EINTR { return errno }
                done += Swift.max(result, 0)
            }
            return 0
        }
    }
}
