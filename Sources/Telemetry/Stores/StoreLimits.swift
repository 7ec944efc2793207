/// The maximum amounts of data that are read into memory at once.
public enum StoreLimits {
    /// The maximum size, in bytes, of a file that is read to identify it, and usually of a file that is parsed.
    public static let file = 32 << 20
    /// The maximum size, in bytes, of a keyed archive, which is the limit of property lists.
    public static let archive = 512 << 20
}

/// The maximum size of a store file that is parsed instead of being put into quarantine.
public struct FileSizeLimit: Sendable, Equatable {
    /// The maximum size in bytes.
    public let bytes: Int
    /// The code of the reason for which larger files are put into quarantine.
    public let code: String

    /// The limit for files whose format document does not define one.
    public static let usual = FileSizeLimit(bytes: StoreLimits.file, code: "too-large")

    /// Creates a limit.
    public init(bytes: Int, code: String) {
        self.bytes = bytes
        self.code = code
    }
}
