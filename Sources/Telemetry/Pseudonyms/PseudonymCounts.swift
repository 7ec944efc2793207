import JSONText

/// What was left out of payloads while pseudonyms were made.
public struct PseudonymCounts: Sendable, Equatable {
    /// Values that a rule leaves out.
    public var dropped = 0
    /// Values that have not the form that their rule keeps.
    public var malformed = 0
    /// Values that no rule names.
    public var unnamed = 0

    /// Counts nothing yet.
    public init() {}

    /// Adds other counts.
    public static func += (counts: inout PseudonymCounts, other: PseudonymCounts) {
        counts.dropped += other.dropped
        counts.malformed += other.malformed
        counts.unnamed += other.unnamed
    }

    /// The counts as canonical JSON.
    public var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("dropped", integer: dropped)
        object.set("malformed", integer: malformed)
        object.set("unnamed", integer: unnamed)
        return object
    }
}
