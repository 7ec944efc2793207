/// The deviations that a reader accepts: none, unless a format needs one and says so.
public struct JSONReadingPolicy: Sendable {
    /// What to do with a key that stands twice in one object.
    public enum DuplicateKeys: Sendable {
        /// Refuse the text.
        case reject
        /// Keep the last value, as most parsers do.
        case lastWins
    }

    /// What to do with an escaped surrogate that has no other half.
    public enum UnpairedSurrogates: Sendable {
        /// Refuse the text.
        case reject
        /// Keep it; the writer escapes it again. In memory it is encoded like any other scalar (WTF-8).
        case keep
    }

    /// The treatment of repeated keys.
    public var duplicateKeys: DuplicateKeys
    /// The treatment of lone surrogates.
    public var unpairedSurrogates: UnpairedSurrogates
    /// How many arrays and objects may be open at once.
    public var depthLimit: Int

    /// RFC 8259 to the letter, 512 levels.
    public static let strict = JSONReadingPolicy()

    /// Sets a policy; what is not given is strict.
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
