import Glibc

/// A call to the operating system about a file, and its error.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation that failed; its raw value is the verb in the message.
    public enum Operation: String, Sendable {
        case open, create, read, write, sync, rename, remove, list, stat, lock, replace, spool
    }

    /// The operation that failed.
    public let operation: Operation
    /// The path as the caller gave it, or the temporary's path where that is what failed.
    public let path: String
    /// The `errno` code.
    public let code: Int32
    /// The case of a format document that the error is, such as `B28`, or `nil` if the operating system reported it.
    public private(set) var caseID: String?
    /// What is said in the place of the system's words, where the bytes do not lie in a file of their own.
    private var words: String?

    /// Describes a failed call; without `code`, by the current `errno`.
    public init(_ operation: Operation, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
        if isExhaustion { ResourceExhaustion.note(self) }
    }

    /// Describes a file that cannot be had for a reason that the system has no words for.
    /// - Parameters:
    ///   - code: the `errno` code that comes nearest.
    ///   - caseID: The case of a format document that the error is.
    ///   - words: all that is said of it.
    public init(_ operation: Operation, _ path: String, code: Int32, caseID: String? = nil, saying words: String) {
        self.init(operation, path, code: code)
        self.caseID = caseID
        self.words = words
    }

    /// One line: `cannot create /x/y.tar.zst: No such file or directory`. It begins with the case, if there is one.
    public var description: String { caseID.map { "\($0) \(message)" } ?? message }

    /// The description without the case.
    public var message: String {
        words ?? "cannot \(operation == .spool ? "spool to" : operation.rawValue) \(path): \(reason)"
    }

    /// Whether a file was refused for its size.
    public var isTooLarge: Bool { code == EFBIG }
    /// Whether a spool file would hold more than it may.
    public var isOverSpoolLimit: Bool { operation == .spool && code == EOVERFLOW }
    /// Whether there is no such file.
    public var isNotFound: Bool { code == ENOENT }
    /// Whether the user may not do this.
    public var isNoPermission: Bool { code == EACCES || code == EPERM }
    /// Whether something is there already.
    public var isExisting: Bool { code == EEXIST }
    /// Whether the system has no more open files or memory for this process. It says nothing about the file.
    public var isExhaustion: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }
    /// Whether the disk is full.
    public var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether a file cannot be moved for its new place is on another file system.
    public var isOnAnotherFileSystem: Bool { code == EXDEV }
    /// Whether somebody else has the lock.
    public var isLocked: Bool { operation == .lock && code == EWOULDBLOCK }
    /// Whether something is neither a folder nor a regular file, or a folder where a file was wanted.
    public var isNotAFile: Bool { operation == .read && (code == EISDIR || code == ENOTSUP) }
    /// Whether the operating system failed to read a file, rather than found none that is a regular file of the allowed size.
    public var isReadFailure: Bool { ![ENOENT, ELOOP, ENOTSUP, EISDIR, EFBIG].contains(code) }
    /// Whether something is no folder.
    public var isNotAFolder: Bool { code == ENOTDIR }

    private var reason: String {
        switch (operation, code) {
        case (.lock, EWOULDBLOCK): "another run is writing it"
        case (.replace, ENOTSUP), (.read, ENOTSUP), (.open, ENOTSUP): "it is not a regular file"
        case (.replace, ENOTEMPTY): "there is more in it than files that such an output has"
        case (.replace, ENOTDIR): "it is no folder"
        case (.spool, EOVERFLOW): "it would hold more than the limit"
        default: String(cString: strerror(code))
        }
    }
}

extension FileError {
    /// A file that is not what it was when it was looked at first.
    public init(changed path: String) {
        self.init(.read, path, code: ESTALE, saying: "\(path) has changed since it was checked")
    }

    /// Whether a file is not what it was when it was looked at first.
    public var isChanged: Bool { operation == .read && code == ESTALE }
}
