import Glibc

/// An open file descriptor, closed with the value.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes over a descriptor that `open` or `openat` returned, or reports why there is none.
    init(_ number: Int32, _ operation: FileError.Operation, _ path: String) throws(FileError) {
        guard number >= 0 else { throw FileError(operation, path) }
        self.number = number
    }

    deinit { close(number) }

    /// `fstat`, for the path of the message.
    func status(_ path: String) throws(FileError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw FileError(.stat, path) }
        return status
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
