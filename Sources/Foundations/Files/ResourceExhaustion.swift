import Synchronization

/// Whether this process ran out of open files or memory while it read input.
///
/// Code that reads captures reports a file that cannot be opened and continues. If the reason is the process and not the file,
/// the result would lack input that is intact, so that the command has to end with an error.
public enum ResourceExhaustion {
    private static let first = Mutex<FileError?>(nil)

    static func note(_ error: FileError) { first.withLock { $0 = $0 ?? error } }

    /// Throws the first error of this kind.
    public static func check() throws(FileError) {
        if let error = first.withLock({ $0 }) { throw error }
    }
}
