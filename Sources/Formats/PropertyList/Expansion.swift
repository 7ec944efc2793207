/// The size of what comes out when a value is written with all that it refers to, as if nothing were shared.
///
/// Source: <doc:KeyedArchives>, D.3.
public struct Expansion: Hashable, Sendable {
    /// How many values: leaves, nil and inline scalars count 1, an instance 1 and its members, its class not. At most
    /// ``countLimit``, which stands for itself and all that is more.
    public let count: Int
    /// How many levels of instances; a leaf has 1. At most ``depthLimit``, which stands for itself and all that is more.
    public let depth: Int

    /// The highest count that is told apart.
    public static let countLimit = 0xFF_FFFF
    /// The highest depth that is told apart.
    public static let depthLimit = 253
    /// How many levels of instances a value may have.
    public static let allowedDepth = 128
}

/// The expansions of the objects of an archive, four bytes each.
struct ExpansionMemo: Sendable {
    /// Count in the high 24 bits, depth in the low 8.
    private static let unknown: UInt32 = 0
    static let open = UInt32.max
    static let cyclic = UInt32.max - 1

    /// Made when the first expansion is asked for; by object, or by place where there are fewer places.
    private var states: [UInt32] = []
    private let stateCount: Int
    private let countsBytes: Bool

    init(objectCount: Int, length: Int) {
        stateCount = min(objectCount, length)
        countsBytes = objectCount > length
    }

    mutating func prepare() {
        if states.isEmpty { states = Array(repeating: Self.unknown, count: stateCount) }
    }

    @inline(__always)
    subscript(node: PropertyListNode) -> UInt32 {
        get { states[countsBytes ? Int(node.offset) : Int(node.number)] }
        set { states[countsBytes ? Int(node.offset) : Int(node.number)] = newValue }
    }

    static func packed(count: Int, depth: Int) -> UInt32 {
        UInt32(min(count, Expansion.countLimit)) << 8 | UInt32(min(depth, Expansion.depthLimit))
    }

    static func expansion(_ state: UInt32) -> Expansion {
        Expansion(count: Int(state >> 8), depth: Int(state & 0xFF))
    }
}

extension KeyedArchive {
    /// An instance of which some members are counted.
    private struct Frame {
        let node: PropertyListNode
        let members: PropertyListMembers
        /// The next member.
        var position = 0
        /// The elements of the inline array that is being counted, and the next of them.
        var elements = PropertyListElements(start: 0, count: 0)
        var element = 0
        var count = 1
        var depth = 0
        var isCyclic = false
    }

    /// What comes out when a stored value (a UID, or an object) is written out in full. Each object of the archive is
    /// counted once, so that asking for every value costs no more than asking for the root.
    ///
    /// References that lead nowhere count 1: they are for those to report who read them. The bases of URLs are not
    /// followed.
    /// - Throws: `graph-cycle` if the value contains itself; `too-deep` if it has more levels than
    ///   ``Expansion/allowedDepth``.
    public mutating func expansion(of stored: PropertyListNode) throws(PropertyListError) -> Expansion {
        expansions.prepare()
        let state = count(stored)
        guard state != ExpansionMemo.cyclic else {
            throw PropertyListError(.graphCycle, at: document.offset(of: stored), "a value that contains itself")
        }
        let expansion = ExpansionMemo.expansion(state)
        guard expansion.depth <= Expansion.allowedDepth else {
            throw PropertyListError(
                .tooDeep, at: document.offset(of: stored), "more than \(Expansion.allowedDepth) levels")
        }
        return expansion
    }

    private mutating func count(_ stored: PropertyListNode) -> UInt32 {
        foldDepthFirst(
            stored, enter: { node, _ in enter(node) }, next: { frame in nextValue(&frame) },
            add: { state, frame in Self.add(state, to: &frame) },
            close: { frame in
                let state =
                    frame.isCyclic
                    ? ExpansionMemo.cyclic : ExpansionMemo.packed(count: frame.count, depth: frame.depth + 1)
                expansions[frame.node] = state
                return state
            })
    }

    private static let leaf = ExpansionMemo.packed(count: 1, depth: 1)

    /// The state of a value if it is known or a leaf; otherwise opens it.
    @inline(__always)
    private mutating func enter(_ stored: PropertyListNode) -> EnteredNode<UInt32, Frame> {
        var object = stored
        if document.marker(of: stored) >> 4 == 8 {
            let uid = document.uid(of: stored)
            guard uid != 0, uid < objects.count else { return .known(Self.leaf) }
            object = document.element(at: Int(uid), of: objects)
        }
        guard document.marker(of: object) >> 4 == 0xD else { return .known(Self.leaf) }
        let state = expansions[object]
        if state == ExpansionMemo.open { return .known(ExpansionMemo.cyclic) }
        if state != 0 { return .known(state) }
        expansions[object] = ExpansionMemo.open
        return .open(Frame(node: object, members: document.members(of: object)))
    }

    /// The next value of an instance that has to be counted, as stored.
    @inline(__always)
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
            } else if !isLeftOut(document.keyNumber(at: frame.position - 1, of: frame.members), in: frame) {
                return value
            }
        }
    }

    /// Whether a member is not counted: the class, and the base of a URL, for a chain of these may run in a circle
    /// without being worth an error.
    @inline(__always)
    private mutating func isLeftOut(_ key: UInt32, in frame: Frame) -> Bool {
        if key == keys.places[classKey.index].number { return true }
        let node = document.node(numbered: Int(key))
        if document.text(node, equals: keys.texts[classKey.index]) {
            keys.places[classKey.index].number = key
            return true
        }
        return document.text(node, equals: keys.texts[baseKey.index])
            && (try? classOfInstance(frame.node))?.foundation == .url
    }

    @inline(__always)
    private static func add(_ state: UInt32, to frame: inout Frame) {
        if state == ExpansionMemo.cyclic { return frame.isCyclic = true }
        frame.count = min(frame.count + Int(state >> 8), Expansion.countLimit)
        frame.depth = max(frame.depth, Int(state & 0xFF))
    }
}
