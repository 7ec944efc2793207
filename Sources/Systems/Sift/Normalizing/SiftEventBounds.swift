import PropertyList

/// Limits the size of one event.
///
/// An event must not contain itself, be nested too deeply, or expand to too many values.
///
/// A real event has fewer than a thousand values in few levels. Determining the size of an event takes as long as
/// writing it, so the size is only determined when an event turns out to be larger than a real one.
///
/// Source: "Keyed archives: container, object graph, hostile input", D.3.
struct SiftEventBounds {
    /// The number of values up to which an event is written without determining its size.
    private static let uncheckedValueLimit = 2000
    /// The number of levels up to which an event is written without determining its size.
    private static let uncheckedDepthLimit = 24
    /// The maximum number of values in an event.
    private static let valueLimit = 100_000
    /// The minimum number of values in an event, which are the event and its ten members.
    static let minimumValueCount = 11

    private let event: PropertyListNode
    private let outerDepth: Int
    private var depth = 0
    private var isChecked = false
    /// The number of values so far.
    private(set) var values = minimumValueCount

    /// Creates the bounds of an event.
    ///
    /// - Parameters:
    ///   - event: The event as stored in its list.
    ///   - outerDepth: The nesting level of the list in the archive. The level of the root is 1.
    init(_ event: PropertyListNode, outerDepth: Int) {
        self.event = event
        self.outerDepth = outerDepth
    }

    /// Enters a collection with `count` elements, before the elements are read.
    ///
    /// - Throws: `PropertyListError` with the code `graph-cycle`, `too-deep` or `budget-exceeded` if the event must be
    ///   omitted.
    @inline(__always)
    mutating func enter(_ count: Int, in archive: inout KeyedArchive) throws(PropertyListError) {
        values += count + 1
        depth += 1
        if values > Self.uncheckedValueLimit || depth > Self.uncheckedDepthLimit, !isChecked { try check(&archive) }
    }

    /// Leaves a collection.
    mutating func leave() { depth -= 1 }

    private mutating func check(_ archive: inout KeyedArchive) throws(PropertyListError) {
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
