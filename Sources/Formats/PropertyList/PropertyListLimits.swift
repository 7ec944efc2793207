/// The most memory and work that a property list may take.
public struct PropertyListLimits: Sendable {
    /// The longest file, in bytes. What is longer is refused as `too-large`.
    public var length: Int
    /// The most levels of arrays and dictionaries; the root is level 1.
    public var depth: Int

    /// The longest file that offsets of 32 bits reach, in bytes.
    public static let maximumLength = Int(UInt32.max) - 1

    /// Makes limits: by default 512 MiB and 512 levels.
    public init(length: Int = 512 << 20, depth: Int = 512) {
        self.length = min(length, Self.maximumLength)
        self.depth = min(max(depth, 1), 512)
    }
}
