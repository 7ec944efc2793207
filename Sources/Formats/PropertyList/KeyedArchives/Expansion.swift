/// The size of a value of a keyed archive if every shared value in it is written in full each time it occurs.
///
/// Source: <doc:KeyedArchives>, D.3.
public struct Expansion: Hashable, Sendable {
    /// The number of values, clamped to ``countLimit``.
    ///
    /// The count of an instance is 1 plus the counts of its members, except for its class. Any other value counts as 1.
    public let count: Int
    /// The number of nested levels of instances, clamped to ``depthLimit``.
    ///
    /// A value that is not an instance has a depth of 1.
    public let depth: Int

    /// The maximum value of ``count``.
    public static let countLimit = 0xFF_FFFF
    /// The maximum value of ``depth``, which leaves the byte values 254 and 255 to mark objects without an expansion.
    public static let depthLimit = 253
    /// The maximum depth that ``KeyedArchive/expansion(of:)`` accepts.
    public static let allowedDepth = 128
}

/// A cache of the expansions of objects.
///
/// The expansion of an object that contains itself is `nil`.
struct ExpansionMemo: Sendable {
    private static let open = UInt32.max
    private static let cyclic = UInt32.max - 1

    /// The states of objects, indexed by object number, or by offset if objects share offsets.
    ///
    /// An expansion has its count in the high 24 bits and its depth in the low 8 bits.
    private var packedStates: [UInt32] = []
    private let stateCount: Int
    private let sharesOffsets: Bool

    init(_ layout: BinaryLayout) {
        stateCount = min(layout.objectCount, layout.tableOffset)
        sharesOffsets = layout.sharesOffsets
    }

    /// Allocates the states when an expansion is first needed.
    mutating func allocateStates() {
        if packedStates.isEmpty { packedStates = Array(repeating: 0, count: stateCount) }
    }

    subscript(node: PropertyListNode) -> WalkState<Expansion?> {
        get {
            switch packedStates[index(of: node)] {
            case 0: .new
            case Self.open: .open
            case Self.cyclic: .done(nil)
            case let state: .done(Expansion(count: Int(state >> 8), depth: Int(state & 0xFF)))
            }
        }
        set {
            packedStates[index(of: node)] =
                switch newValue {
                case .new: 0
                case .open: Self.open
                case .done(nil): Self.cyclic
                case .done(let expansion?): UInt32(expansion.count) << 8 | UInt32(expansion.depth)
                }
        }
    }

    private func index(of node: PropertyListNode) -> Int { sharesOffsets ? Int(node.offset) : Int(node.number) }
}

extension KeyedArchive {
    /// An instance whose members are being counted.
    private struct Frame {
        let node: PropertyListNode
        let members: PropertyListMembers
        /// The position of the next member to count.
        var position = 0
        /// The elements of the inline array that is being counted.
        var elements = PropertyListElements(start: 0, count: 0)
        var element = 0
        /// The expansion of the instance without its own level, or `nil` if a member contains itself.
        var total: Expansion? = Expansion(count: 1, depth: 0)
    }

    /// Returns the expansion of a stored value, which is a UID or an object.
    ///
    /// The expansion of each object is computed only once, so computing the expansions of all values takes no longer
    /// than computing the expansion of the root. A UID beyond the objects counts as one value, and the base of a URL is
    /// not followed.
    ///
    /// - Throws: ``PropertyListError`` with the code `graphCycle` if the value contains itself, or `tooDeep` if it has
    ///   more than ``Expansion/allowedDepth`` levels.
    public mutating func expansion(of stored: PropertyListNode) throws(PropertyListError) -> Expansion {
        expansions.allocateStates()
        guard let expansion = count(stored) else {
            throw document.error(.graphCycle, at: stored, "a value that contains itself")
        }
        guard expansion.depth <= Expansion.allowedDepth else {
            throw document.error(.tooDeep, at: stored, "more than \(Expansion.allowedDepth) levels")
        }
        return expansion
    }

    private mutating func count(_ stored: PropertyListNode) -> Expansion? {
        foldDepthFirst(
            stored, enter: { node, _ in enter(node) }, next: { frame in nextValue(&frame) },
            add: { expansion, frame in Self.add(expansion, to: &frame) },
            close: { frame in
                let expansion = frame.total.map {
                    Expansion(count: $0.count, depth: min($0.depth + 1, Expansion.depthLimit))
                }
                expansions[frame.node] = .done(expansion)
                return expansion
            })
    }

    private static let leaf = Expansion(count: 1, depth: 1)

    /// Returns the expansion of a value if it is known or the value is not an instance, or begins to count an instance.
    private mutating func enter(_ stored: PropertyListNode) -> EnteredNode<Expansion?, Frame> {
        var object = stored
        if document.marker(of: stored) >> 4 == 8 {
            let uid = document.uid(of: stored)
            guard uid != 0, uid < objects.count else { return .known(Self.leaf) }
            object = document.element(at: Int(uid), of: objects)
        }
        guard document.marker(of: object) >> 4 == 0xD else { return .known(Self.leaf) }
        switch expansions[object] {
        case .done(let expansion): return .known(expansion)
        case .open: return .known(nil)
        case .new:
            expansions[object] = .open
            return .open(Frame(node: object, members: document.members(of: object)))
        }
    }

    /// Returns the next value to count in the instance of `frame`, or `nil` if all values were returned.
    private mutating func nextValue(_ frame: inout Frame) -> PropertyListNode? {
        while true {
            if frame.element < frame.elements.count {
                frame.element += 1
                return document.element(at: frame.element - 1, of: frame.elements)
            }
            guard frame.position < frame.members.count else { return nil }
            frame.position += 1
            let value = document.value(at: frame.position - 1, of: frame.members)
            if document.marker(of: value) >> 4 == 0xA {
                frame.elements = document.elements(of: value)
                frame.element = 0
            } else if !isExcluded(document.keyNumber(at: frame.position - 1, of: frame.members), in: frame) {
                return value
            }
        }
    }

    /// Returns whether a member is the class of an instance or the base of a URL, neither of which is counted.
    private mutating func isExcluded(_ key: UInt32, in frame: Frame) -> Bool {
        if key == keys.entries[classKey.index].number { return true }
        let node = document.node(numbered: Int(key))
        if document.text(node, equals: keys.entries[classKey.index].utf8) {
            keys.entries[classKey.index].number = key
            return true
        }
        // A cycle of base URLs is not an error, so bases are not followed.
        return document.text(node, equals: keys.entries[baseKey.index].utf8)
            && (try? classOfInstance(frame.node))?.foundation == .url
    }

    private static func add(_ expansion: Expansion?, to frame: inout Frame) {
        guard let total = frame.total, let expansion else { return frame.total = nil }
        frame.total = Expansion(
            count: min(total.count + expansion.count, Expansion.countLimit), depth: max(total.depth, expansion.depth))
    }
}
