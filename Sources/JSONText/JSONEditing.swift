extension JSONDocument {
    /// Takes the member with this value node out of an object.
    public mutating func removeMember(withValue value: JSONNode, from object: JSONNode) {
        let start = Int(nodes[Int(object.index)].extra)
        let remaining = Int(members[start])
        guard let place = (start + 1...start + remaining).first(where: { members[$0] + 1 == value.index }) else {
            return
        }
        for position in place..<(start + remaining) { members[position] = members[position + 1] }
        members[start] -= 1
    }

    /// Takes an element out of an array.
    public mutating func removeElement(_ element: JSONNode, from array: JSONNode) {
        nodes[Int(element.index)].kind = .removed
        nodes[Int(array.index)].extra -= 1
    }

    /// Puts a number in place of a value. The text has to be a number of RFC 8259.
    public mutating func replace(_ node: JSONNode, withNumber text: some Sequence<UInt8>) {
        replace(node, with: .number, text)
    }

    /// Puts a string in place of a value.
    public mutating func replace(_ node: JSONNode, withString text: some Sequence<UInt8>) {
        replace(node, with: .string, text)
    }

    /// Puts `true` or `false` in place of a value.
    public mutating func replace(_ node: JSONNode, with value: Bool) {
        replace(node, with: value ? .true : .false, [])
    }

    private mutating func replace(_ node: JSONNode, with kind: JSONKind, _ text: some Sequence<UInt8>) {
        let start = resolved.count
        resolved.append(contentsOf: text)
        let index = Int(node.index)
        nodes[index].kind = kind
        nodes[index].isResolved = true
        nodes[index].start = UInt32(start)
        nodes[index].end = UInt32(resolved.count)
        nodes[index].extra = 0
    }
}
