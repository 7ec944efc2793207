/// The deviations from RFC 8259 that a reader accepts.
public struct JSONReadingPolicy: Sendable {
    /// The treatment of a key that occurs more than once in an object.
    public enum DuplicateKeys: Sendable {
        /// The text is rejected.
        case reject
        /// The last value is kept, as in most parsers.
        case lastWins
    }

    /// The treatment of an escaped surrogate without the other half of its pair.
    public enum UnpairedSurrogates: Sendable {
        /// The text is rejected.
        case reject
        /// The surrogate is kept in WTF-8, and is escaped again when it is written.
        case keep
    }

    /// The treatment of repeated keys.
    public var duplicateKeys: DuplicateKeys
    /// The treatment of lone surrogates.
    public var unpairedSurrogates: UnpairedSurrogates
    /// The maximum number of nested arrays and objects.
    public var depthLimit: Int

    /// The policy that accepts no deviations from RFC 8259 and at most 512 nested arrays and objects.
    public static let strict = JSONReadingPolicy()

    /// Creates a policy, which is strict by default.
    public init(
        duplicateKeys: DuplicateKeys = .reject,
        unpairedSurrogates: UnpairedSurrogates = .reject,
        depthLimit: Int = 512
    ) {
        self.duplicateKeys = duplicateKeys
        self.unpairedSurrogates = unpairedSurrogates
        self.depthLimit = depthLimit
    }
}
