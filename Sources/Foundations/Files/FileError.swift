import CLibrary
import Synchronization

/// An error of an operation on a file.
public struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// An operation that can fail.
    ///
    /// The raw values are the verbs in error messages.
    public enum Operation: String, Sendable {
        case open, create, read, write, sync, rename, remove, list, stat, lock, replace, spool
    }

    /// The operation that failed.
    public let operation: Operation
    /// The path of the file on which the operation failed.
    public let path: String
    /// The `errno` code.
    public let code: Int32
    /// The identifier, such as `B28`, that a document on the file format assigns to this error, if any.
    public private(set) var caseID: String?
    /// The message to use instead of the message of the operating system, if any.
    private var customMessage: String?

    /// Creates an error for a system call that failed with `code`, which is the current `errno` by default.
    public init(_ operation: Operation, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Creates an error with the complete message `message` and the `errno` code that describes the error best.
    public init(_ operation: Operation, _ path: String, code: Int32, caseID: String? = nil, message: String) {
        self.init(operation, path, code: code)
        self.caseID = caseID
        customMessage = message
    }

    /// The error as one line that begins with the case identifier, if any.
    ///
    /// An example is `cannot create /x/y.tar.zst: No such file or directory`.
    public var description: String { caseID.map { "\($0) \(message)" } ?? message }

    /// The description without the case identifier.
    public var message: String {
        let name = path.isEmpty ? "''" : path
        return customMessage ?? "cannot \(operation == .spool ? "spool to" : operation.rawValue) \(name): \(reason)"
    }

    /// Whether the file exceeds the size limit.
    public var isTooLarge: Bool { code == EFBIG }
    /// Whether a spool file would exceed its size limit.
    public var isOverSpoolLimit: Bool { operation == .spool && code == EOVERFLOW }
    /// Whether the file does not exist.
    public var isNotFound: Bool { code == ENOENT }
    /// Whether the user lacks the permission for the operation.
    public var isPermissionDenied: Bool { code == EACCES || code == EPERM }
    /// Whether a file with this name exists already.
    public var alreadyExists: Bool { code == EEXIST }
    /// Whether this process cannot open more files or allocate more memory, regardless of the file.
    public var isResourceExhaustion: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }
    /// Whether the disk is full.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether a file cannot be moved because the destination is on another file system.
    public var isOnAnotherFileSystem: Bool { code == EXDEV }
    /// Whether another process holds the lock.
    public var isLocked: Bool { operation == .lock && code == EWOULDBLOCK }
    /// Whether the path does not refer to a regular file.
    public var isNotAFile: Bool { operation == .read && (code == EISDIR || code == ENOTSUP) }
    /// Whether reading failed although the path refers to a regular file of the allowed size.
    public var isReadFailure: Bool { ![ENOENT, ELOOP, ENOTSUP, EISDIR, EFBIG].contains(code) }
    /// Whether the path is a symbolic link, which is not followed.
    public var isLink: Bool { code == ELOOP }
    /// Whether the path does not refer to a folder.
    public var isNotAFolder: Bool { code == ENOTDIR }

    private var reason: String {
        switch (operation, code) {
        case (.lock, EWOULDBLOCK): "another run is writing it"
        case (.replace, ENOTSUP), (.read, ENOTSUP), (.open, ENOTSUP): "it is not a regular file"
        case (.replace, ENOTEMPTY): "it contains files that do not belong to this output"
        case (.replace, ENOTDIR): "it is not a folder"
        case (.spool, EOVERFLOW): "it would hold more than the limit"
        case (.rename, ENOTSUP): "its file system can neither rename without replacing a file nor link files"
        default: String(cString: strerror(code))
        }
    }
}

extension FileError {
    /// Creates an error for a file that has changed since it was checked.
    public init(changedFileAt path: String) {
        self.init(.read, path, code: ESTALE, message: "\(path) has changed since it was checked")
    }

    /// Creates an error for a file of `size` bytes, almost all of which are a hole.
    init(sparseFileAt path: String, size: Int) {
        self.init(
            .read, path, code: ENODATA,
            message:
                "\(path) has \(size) bytes, but almost none of them are stored: a sparse file of this size is not read")
    }

    /// Whether the file has changed since it was checked.
    public var isChanged: Bool { operation == .read && code == ESTALE }
}

/// A record of whether this process ran out of file descriptors or memory while it read the files of a capture.
///
/// Readers of captures report a file that cannot be opened and continue. If this process cannot open more files, the
/// result would lack intact input. Therefore the command must end with an error. All folders of a capture share one
/// record.
public final class ResourceExhaustion: Sendable {
    private let firstError = Mutex<FileError?>(nil)

    /// Returns `error`, which is kept if it is the first one that is due to a lack of resources.
    func recorded(_ error: FileError) -> FileError {
        if error.isResourceExhaustion { firstError.withLock { $0 = $0 ?? error } }
        return error
    }

    /// Throws the first recorded error, if any.
    public func check() throws(FileError) {
        if let error = firstError.withLock({ $0 }) { throw error }
    }
}
