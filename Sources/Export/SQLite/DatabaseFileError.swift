import Files
import Glibc
import SQLite

extension FileError {
    /// Creates a file error from a database error.
    ///
    /// `action` completes the message "cannot …".
    init(_ error: any Error, _ operation: Operation, _ path: String, doing action: String) {
        if case .diskFull? = (error as? DatabaseError)?.kind {
            self.init(operation, path, code: ENOSPC)
        } else {
            self.init(operation, path, code: EIO, message: "cannot \(action): \(error)")
        }
    }
}
