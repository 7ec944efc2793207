import JSONText

/// Counts of the values that pseudonymization removed from payloads, by reason.
public struct PseudonymCounts: Sendable, Equatable {
    /// The number of values that were removed because their rule is ``PseudonymRule/drop``.
    public var dropped = 0
    /// The number of values that were removed because they do not have the form required by their rule.
    public var malformed = 0
    /// The number of values that were removed because they have no rule.
    public var unnamed = 0

    /// Creates counts of zero.
    public init() {}

    /// Adds the counts of `other` to `counts`.
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
