/// The limits on the size and depth of a property list.
public struct PropertyListLimits: Sendable {
    /// The maximum length of a file, in bytes.
    public var length: Int
    /// The maximum number of levels of arrays and dictionaries, including the root.
    public var depth: Int

    /// The maximum length, in bytes, of a file whose offsets fit in 32 bits.
    public static let maximumLength = Int(UInt32.max) - 1

    /// Creates limits, by default of 512 MiB and 512 levels.
    ///
    /// Values beyond ``maximumLength`` and 512 levels are reduced to these maximums.
    public init(length: Int = 512 << 20, depth: Int = 512) {
        self.length = min(length, Self.maximumLength)
        self.depth = min(max(depth, 1), 512)
    }
}
