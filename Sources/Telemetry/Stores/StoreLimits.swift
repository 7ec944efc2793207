/// The maximum amounts of data that are read into memory at once.
public enum StoreLimits {
    /// The usual maximum size, in bytes, of a file that is identified or parsed.
    public static let file = 32 << 20
    /// The maximum size of a keyed archive in bytes.
    public static let archive = 512 << 20
}

/// The maximum size of a store file.
///
/// Larger files are put into quarantine instead of being parsed.
public struct FileSizeLimit: Sendable, Equatable {
    /// The maximum size in bytes.
    public let bytes: Int
    /// The quarantine code for larger files.
    public let code: String

    /// The limit for files without a documented limit.
    public static let usual = FileSizeLimit(bytes: StoreLimits.file, code: "too-large")

    /// Creates a limit.
    public init(bytes: Int, code: String) {
        self.bytes = bytes
        self.code = code
    }
}
