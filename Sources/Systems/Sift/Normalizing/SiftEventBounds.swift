import PropertyList

/// Keeps the writing of one event within bounds: it must not contain itself, nor be too deep, nor expand to too many values.
///
/// A real event has fewer than a thousand values in few levels. To find out what an event expands to takes as long as to
/// write it, so that is done only for one that turns out to be larger than that, as soon as it does.
///
/// Source: "Keyed archives: container, object graph, hostile input", D.3.
struct SiftEventBounds {
    /// Values and levels of an event that is written without being looked at as a whole.
    private static let trustedValues = 2000
    private static let trustedDepth = 24
    /// Values that an event may have.
    private static let valueLimit = 100_000
    /// How many values an event counts for by itself: one, and one for each of its ten members.
    static let leastValues = 11

    private let event: PropertyListNode
    private let outerDepth: Int
    private var depth = 0
    private var isChecked = false
    /// How many values were met so far.
    private(set) var values = leastValues

    /// - Parameters:
    ///   - event: the event as its list stores it.
    ///   - outerDepth: the level of that list in the archive, the root being 1.
    init(_ event: PropertyListNode, outerDepth: Int) {
        self.event = event
        self.outerDepth = outerDepth
    }

    /// Goes into a collection, before any of its elements is looked at.
    /// - Throws: `graph-cycle`, `too-deep` or `budget-exceeded` if the event has to be left out.
    @inline(__always)
    mutating func enter(_ count: Int, in archive: inout KeyedArchive) throws(PropertyListError) {
        values += count + 1
        depth += 1
        if values > Self.trustedValues || depth > Self.trustedDepth, !isChecked { try check(&archive) }
    }

    /// Comes out of a collection.
    mutating func leave() { depth -= 1 }

    private mutating func check(_ archive: inout KeyedArchive) throws(PropertyListError) {
        let expansion = try archive.expansion(of: event)
        let place = archive.document.offset(of: event)
        guard expansion.depth + outerDepth <= Expansion.allowedDepth else {
            throw PropertyListError(.tooDeep, at: place, "more than \(Expansion.allowedDepth) levels")
        }
        guard expansion.count <= Self.valueLimit else {
            throw PropertyListError(.budgetExceeded, at: place, "an event of more than \(Self.valueLimit) values")
        }
        isChecked = true
    }
}
