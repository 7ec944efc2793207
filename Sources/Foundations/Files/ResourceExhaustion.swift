import Synchronization

/// A record of whether this process ran out of file descriptors or memory while it read input.
///
/// Readers of captures report a file that cannot be opened and continue. If this process cannot open more files, the
/// result would lack intact input. Therefore the command must end with an error.
public enum ResourceExhaustion {
    private static let firstError = Mutex<FileError?>(nil)

    static func record(_ error: FileError) { firstError.withLock { $0 = $0 ?? error } }

    /// Throws the first recorded error, if any.
    public static func check() throws(FileError) {
        if let error = firstError.withLock({ $0 }) { throw error }
    }
}
