import PropertyList

/// The limits on the nesting and on the number of values of one event.
///
/// The check also rejects an event that contains itself. Checking an event takes as long as writing it, so only events
/// that are larger than usual are checked.
///
/// Source: "Keyed archives: container, object graph, hostile input", D.3.
struct SiftEventBounds {
    /// The maximum number of values in an event that is written without a check.
    private static let uncheckedValueLimit = 2000
    /// The maximum number of levels in an event that is written without a check.
    private static let uncheckedDepthLimit = 24
    /// The maximum number of values in an event.
    private static let valueLimit = 100_000
    /// The minimum number of values in an event: the event itself and its ten members.
    static let minimumValueCount = 11

    private let event: PropertyListNode
    private let outerDepth: Int
    private var depth = 0
    private var isChecked = false
    /// The number of values counted so far.
    private(set) var valueCount = minimumValueCount

    /// Creates the limits for an event whose list is at the nesting level `outerDepth` of the archive.
    init(_ event: PropertyListNode, outerDepth: Int) {
        self.event = event
        self.outerDepth = outerDepth
    }

    /// Counts a collection before its `count` elements are read, or throws an error if the event is too large.
    @inline(__always)
    mutating func enterCollection(ofCount count: Int, in archive: inout KeyedArchive) throws(PropertyListError) {
        valueCount += count + 1
        depth += 1
        if valueCount > Self.uncheckedValueLimit || depth > Self.uncheckedDepthLimit, !isChecked {
            try checkEvent(in: &archive)
        }
    }

    mutating func leaveCollection() { depth -= 1 }

    private mutating func checkEvent(in archive: inout KeyedArchive) throws(PropertyListError) {
        let expansion = try archive.expansion(of: event)
        let offset = archive.document.offset(of: event)
        guard expansion.depth + outerDepth <= Expansion.allowedDepth else {
            throw PropertyListError(.tooDeep, at: offset, "more than \(Expansion.allowedDepth) levels")
        }
        guard expansion.count <= Self.valueLimit else {
            throw PropertyListError(.budgetExceeded, at: offset, "an event of more than \(Self.valueLimit) values")
        }
        isChecked = true
    }
}
