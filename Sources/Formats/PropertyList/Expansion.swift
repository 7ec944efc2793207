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
    /// The highest depth that is told apart. Above it, two depths are free to mark states that are no expansions.
    public static let depthLimit = 253
    /// How many levels of instances a value may have.
    public static let allowedDepth = 128
}

/// The expansions of the objects of an archive. The expansion of an object that contains itself is `nil`.
struct ExpansionMemo: Sendable {
    private static let open = UInt32.max
    private static let cyclic = UInt32.max - 1

    /// The states of the objects, or of the bytes if objects share offsets. They are packed in four bytes each: an
    /// expansion has its count in the high 24 bits, its depth in the low 8.
    private var packedStates: [UInt32] = []
    private let stateCount: Int
    private let sharesOffsets: Bool

    init(_ layout: BinaryLayout) {
        stateCount = min(layout.objectCount, layout.tableOffset)
        sharesOffsets = layout.sharesOffsets
    }

    /// Allocates the states, which most archives do not need.
    mutating func prepare() {
        if packedStates.isEmpty { packedStates = Array(repeating: 0, count: stateCount) }
    }

    @inline(__always)
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

    @inline(__always)
    private func index(of node: PropertyListNode) -> Int { sharesOffsets ? Int(node.offset) : Int(node.number) }
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
        /// The expansion of the instance without its own level; `nil` if a member contains itself.
        var total: Expansion? = Expansion(count: 1, depth: 0)
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
        guard let expansion = count(stored) else {
            throw PropertyListError(.graphCycle, at: document.offset(of: stored), "a value that contains itself")
        }
        guard expansion.depth <= Expansion.allowedDepth else {
            throw PropertyListError(
                .tooDeep, at: document.offset(of: stored), "more than \(Expansion.allowedDepth) levels")
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

    /// The expansion of a value if it is known or a leaf; otherwise opens it.
    @inline(__always)
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
        if key == keys.entries[classKey.index].number { return true }
        let node = document.node(numbered: Int(key))
        if document.text(node, equals: keys.entries[classKey.index].utf8) {
            keys.entries[classKey.index].number = key
            return true
        }
        return document.text(node, equals: keys.entries[baseKey.index].utf8)
            && (try? classOfInstance(frame.node))?.foundation == .url
    }

    @inline(__always)
    private static func add(_ expansion: Expansion?, to frame: inout Frame) {
        guard let total = frame.total, let expansion else { return frame.total = nil }
        frame.total = Expansion(
            count: min(total.count + expansion.count, Expansion.countLimit), depth: max(total.depth, expansion.depth))
    }
}
