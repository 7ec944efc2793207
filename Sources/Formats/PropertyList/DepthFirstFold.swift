/// What is found where a walk enters a node of a graph.
enum EnteredNode<Value, Frame> {
    /// Its value, which is known or needs no other node.
    case known(Value)
    /// The values of other nodes are needed first: where the walk stands in it.
    case open(Frame)
}

/// The progress of a walk at a node of a graph.
enum WalkState<Value> {
    case new
    /// The nodes that the node leads to are being visited.
    case open
    case done(Value)
}

/// Works out the value of a node of a graph from those of the nodes that it leads to: depth first, and without recursion, for
/// a hostile graph is deeper than any stack.
///
/// Who calls remembers which nodes are open and which values are known: what is shared is worked out once, and a circle ends.
///
/// - Parameters:
///   - enter: looks at a node, given how many are open around it.
///   - next: the next node that an open one leads to; nil if there is no more.
///   - add: takes the value of such a node into account.
///   - close: the value of a node of which all are taken into account.
@inline(__always)
func foldDepthFirst<Node, Value, Frame, Failure: Error>(
    _ root: Node, enter: (_ node: Node, _ depth: Int) throws(Failure) -> EnteredNode<Value, Frame>,
    next: (inout Frame) throws(Failure) -> Node?, add: (Value, inout Frame) -> Void, close: (Frame) -> Value
) throws(Failure) -> Value {
    var frames: [Frame] = []
    switch try enter(root, 0) {
    case .known(let value): return value
    case .open(let frame): frames.append(frame)
    }
    while true {
        let place = frames.count - 1
        var frame = frames[place]
        var inner: Frame?
        while inner == nil, let node = try next(&frame) {
            switch try enter(node, frames.count) {
            case .known(let value): add(value, &frame)
            case .open(let opened): inner = opened
            }
        }
        if let inner {
            frames[place] = frame
            frames.append(inner)
            continue
        }
        let value = close(frame)
        frames.removeLast()
        guard place > 0 else { return value }
        add(value, &frames[place - 1])
    }
}
