/// How much of a store is read into memory at once.
public enum StoreLimits {
    /// The most bytes of a file that is read to see what it is, and mostly of one that is parsed.
    public static let file = 32 << 20
    /// The most bytes of a keyed archive that are read: as many as a property list may have.
    public static let archive = 512 << 20
}

/// How large a file of a store may be that is parsed; a larger one goes to quarantine as it is.
public struct FileSizeLimit: Sendable, Equatable {
    /// The most bytes.
    public let bytes: Int
    /// The code that begins the reason for which a larger file is quarantined.
    public let code: String

    /// The limit of files for which the format document names none.
    public static let usual = FileSizeLimit(bytes: StoreLimits.file, code: "too-large")

    /// Sets a limit.
    public init(bytes: Int, code: String) {
        self.bytes = bytes
        self.code = code
    }
}
