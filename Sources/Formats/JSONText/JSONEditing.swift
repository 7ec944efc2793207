extension JSONDocument {
    /// Takes the member with this value node out of an object; does nothing if the object has no such member.
    ///
    /// The time is that of the members of the object, so to take out many use ``removeMembers(from:where:)``.
    public mutating func removeMember(withValue value: JSONNode, from object: JSONNode) {
        removeMembers(from: object) { _, member in member.value == value }
    }

    /// Takes the members out of an object for which a condition holds, in one pass.
    public mutating func removeMembers(
        from object: JSONNode, where isUnwanted: (JSONDocument, JSONMember) throws -> Bool
    ) rethrows {
        guard kind(of: object) == .object else { return }
        let start = Int(nodes[Int(object.index)].extra)
        let keys = members[start + 1..<start + 1 + Int(members[start])]
        let kept = try keys.filter { key in try !isUnwanted(self, JSONMember(key: JSONNode(key))) }
        for (offset, key) in kept.enumerated() { members[start + 1 + offset] = key }
        members[start] = UInt32(kept.count)
        isDense = false
    }

    /// Takes an element out of an array; does nothing if it was taken out before.
    public mutating func removeElement(_ element: JSONNode, from array: JSONNode) {
        guard kind(of: array) == .array, kind(of: element) != .removed else { return }
        nodes[Int(element.index)].kind = .removed
        nodes[Int(array.index)].extra -= 1
        isDense = false
    }

    /// Puts a number in place of a value, which must not be a key. The text has to be a number of RFC 8259.
    ///
    /// All texts that were put into a document may come to 3 GiB.
    public mutating func replace(_ node: JSONNode, withNumber text: some Sequence<UInt8>) {
        replace(node, with: .number, text)
    }

    /// Puts a string in place of a value, which must not be a key. The text has to be UTF-8 (or WTF-8, as read under
    /// ``JSONReadingPolicy/UnpairedSurrogates/keep``).
    public mutating func replace(_ node: JSONNode, withString text: some Sequence<UInt8>) {
        replace(node, with: .string, text)
    }

    /// Puts `true` or `false` in place of a value, which must not be a key.
    public mutating func replace(_ node: JSONNode, with value: Bool) {
        replace(node, with: value ? .true : .false, (value ? "true" : "false").utf8)
    }

    /// Does nothing to a value that was removed.
    private mutating func replace(_ node: JSONNode, with kind: JSONKind, _ text: some Sequence<UInt8>) {
        let index = Int(node.index)
        guard nodes[index].kind != .removed else { return }
        let start = resolved.count
        for byte in text { resolved.append(byte) }
        nodes[index].kind = kind
        isDense = false
        nodes[index].isResolved = true
        nodes[index].start = UInt32(start)
        nodes[index].end = UInt32(resolved.count)
        nodes[index].extra = 0
        replacedLength += bytes(of: node).canonicalLengthLimit
    }
}
