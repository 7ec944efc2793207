import CLibrary

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

/// Unbuffered access to the standard input.
public enum StandardInput {
    private static let name = "standard input"
    private static let minimumChunkSize = 64 << 10

    /// Appends the next bytes to `output` until it is full or the input ends, and returns the number of appended bytes.
    @discardableResult
    public static func read(into output: inout OutputSpan<UInt8>) throws(FileError) -> Int {
        try output.fill(.read, name) { free, _ in CLibrary.read(STDIN_FILENO, free.baseAddress, free.count) }
    }

    /// Returns all bytes up to the end of the input, or throws `EFBIG` if there are more than `limit` bytes.
    public static func contents(limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            // One byte more than the limit is enough to detect that the input is too large.
            let chunkSize = min(max(bytes.count, minimumChunkSize), limit - bytes.count + 1)
            var count = 0
            try bytes.append(addingCapacity: chunkSize) { output throws(FileError) in
                count = try read(into: &output)
            }
            guard bytes.count <= limit else { throw FileError(.read, name, code: EFBIG) }
            if count < chunkSize { return bytes }
        }
    }
}

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
        try bytes.writeAll(to: STDOUT_FILENO, .write, "standard output")
    }
}

extension Span<UInt8> {
    /// Writes all bytes to `descriptor`, beginning at `offset` or, if that is `nil`, at the current offset of the file.
    ///
    /// - Throws: `FileError` with `operation` and `path`.
    func writeAll(
        to descriptor: Int32, at offset: Int? = nil, _ operation: FileError.Operation, _ path: @autoclosure () -> String
    ) throws(FileError) {
        try withUnsafeBytes { buffer throws(FileError) in
            var writtenCount = 0
            while writtenCount < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[writtenCount...])
                let result =
                    if let offset {
                        pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + writtenCount))
                    } else {
                        CLibrary.write(descriptor, rest.baseAddress, rest.count)
                    }
                guard result >= 0 || errno == EINTR else { throw FileError(operation, path()) }
                writtenCount += Swift.max(result, 0)
            }
        }
    }
}

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
        try bytes.writeAll(to: descriptor.number, .write, path)
    }
}

extension stat {
    fileprivate var isStream: Bool { [S_IFIFO, S_IFCHR].contains(st_mode & S_IFMT) }
}
