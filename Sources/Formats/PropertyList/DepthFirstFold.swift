/// The result of entering a node of a graph during a traversal.
enum EnteredNode<Value, Frame> {
    /// The value of the node, which was computed before or does not depend on other nodes.
    case known(Value)
    /// The initial frame of a node whose value depends on other nodes.
    case open(Frame)
}

/// The state of a node of a graph during a traversal.
enum WalkState<Value> {
    case new
    /// The node was entered, and its successors are being visited.
    case open
    case done(Value)
}

/// Computes the value of a node from the values of its successors, depth first.
///
/// The function is not recursive, because a hostile graph may be deeper than any stack. The caller records open nodes
/// and known values, so that a shared node is computed once and a cycle ends.
///
/// - Parameters:
///   - root: The node whose value is computed.
///   - enter: Returns the value or the initial frame of a node. `depth` is the number of open nodes around it.
///   - next: Returns the next successor of an open node, or `nil` if there are no more.
///   - add: Combines the value of a successor into the frame of an open node.
///   - close: Returns the value of a node after all its successors were added.
/// - Returns: The value of `root`.
/// - Throws: The errors of `enter` and `next`.
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
        let last = frames.count - 1
        var frame = frames[last]
        var inner: Frame?
        while inner == nil, let node = try next(&frame) {
            switch try enter(node, frames.count) {
            case .known(let value): add(value, &frame)
            case .open(let opened): inner = opened
            }
        }
        if let inner {
            frames[last] = frame
            frames.append(inner)
            continue
        }
        let value = close(frame)
        frames.removeLast()
        guard last > 0 else { return value }
        add(value, &frames[last - 1])
    }
}
