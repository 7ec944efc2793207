import Glibc

/// The file descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens the standard descriptors that are closed, so that no other file gets one of their numbers and receives
    /// messages.
    ///
    /// The replacements are read-only, so that writing a result to a closed standard output remains an error.
    public static func reserve() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) == -1 {
            // `open` returns the lowest unused number, which is `number`. It stays open until the process ends.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Makes standard error append to the regular file at `path`, after `check` has accepted its first 32 bytes.
    ///
    /// The file is created with permissions 0600 if it is missing. If root creates it, it belongs to the owner of its
    /// folder.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - check: A function that throws an error if nothing may be appended to a file with these first bytes.
    /// - Returns: A new descriptor of the previous standard error, which stays open until the process ends.
    /// - Throws: `FileError` if the file cannot be opened or is not a regular file, or the error of `check`.
    public static func appendErrors(to path: String, check: (_ head: [UInt8]) throws -> Void) throws -> Int32 {
        // Because of O_NONBLOCK, opening a pipe or device does not wait before it is rejected below.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
        let file = try Descriptor(open(path, flags, 0o600), .create, path)
        guard try file.status(path).isRegular else { throw FileError(.create, path, code: ENOTSUP) }
        try check(try [UInt8](capacity: 32) { output in _ = try file.read(at: 0, into: &output, .read, path) })
        try endLastLine(of: file, path)
        let folder = try Descriptor(open(Path.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), .create, path)
        try file.adoptOwner(of: folder, path)
        let previous = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard previous >= 0, dup2(file.number, STDERR_FILENO) >= 0 else { throw FileError(.create, path) }
        return previous
    }

    /// Appends a line feed to a file whose last line has none, because the disk was full when it was written.
    private static func endLastLine(of file: borrowing Descriptor, _ path: String) throws(FileError) {
        let size = Int(try file.status(path).st_size)
        let last = try [UInt8](capacity: 1) { output throws(FileError) in
            if size > 0 { _ = try file.read(at: size - 1, into: &output, .read, path) }
        }
        guard let last = last.first, last != UInt8(ascii: "\n") else { return }
        // If the disk is still full, the next line is lost as well.
        _ = write(file.number, "\n", 1)
    }
}
