extension JSONDocument {
    /// Removes the member whose value is the node `value` from an object, if the object contains it.
    ///
    /// The time is proportional to the number of members. To remove many members, use ``removeMembers(from:where:)``.
    public mutating func removeMember(withValue value: JSONNode, from object: JSONNode) {
        removeMembers(from: object) { _, member in member.value == value }
    }

    /// Removes all members of an object that satisfy a predicate.
    public mutating func removeMembers(
        from object: JSONNode, where shouldRemove: (JSONDocument, JSONMember) throws -> Bool
    ) rethrows {
        guard kind(of: object) == .object else { return }
        let start = Int(nodes[Int(object.index)].extra)
        let keys = members[start + 1..<start + 1 + Int(members[start])]
        let kept = try keys.filter { key in try !shouldRemove(self, JSONMember(key: JSONNode(key))) }
        for (offset, key) in kept.enumerated() { members[start + 1 + offset] = key }
        members[start] = UInt32(kept.count)
        isMinified = false
    }

    /// Removes an element from an array, unless it was already removed.
    public mutating func removeElement(_ element: JSONNode, from array: JSONNode) {
        guard kind(of: array) == .array, kind(of: element) != .removed else { return }
        nodes[Int(element.index)].kind = .removed
        nodes[Int(array.index)].extra -= 1
        isMinified = false
    }

    /// Replaces the value at `node` with a number.
    ///
    /// `node` must not be a key, and `text` must be a number in the syntax of RFC 8259. The strings and numbers of all
    /// replacements in a document must not exceed 3 GiB.
    public mutating func replace(_ node: JSONNode, withNumber text: some Sequence<UInt8>) {
        replace(node, with: .number, text)
    }

    /// Replaces the value at `node` with a string.
    ///
    /// `node` must not be a key, and `text` must be UTF-8. Lone surrogates are accepted in WTF-8, as
    /// ``JSONReadingPolicy/UnpairedSurrogates/keep`` reads them.
    public mutating func replace(_ node: JSONNode, withString text: some Sequence<UInt8>) {
        replace(node, with: .string, text)
    }

    /// Replaces the value at `node`, which must not be a key, with `true` or `false`.
    public mutating func replace(_ node: JSONNode, with value: Bool) {
        replace(node, with: value ? .true : .false, (value ? "true" : "false").utf8)
    }

    /// Replaces a value unless it was removed.
    private mutating func replace(_ node: JSONNode, with kind: JSONKind, _ text: some Sequence<UInt8>) {
        let index = Int(node.index)
        guard nodes[index].kind != .removed else { return }
        let start = resolved.count
        for byte in text { resolved.append(byte) }
        nodes[index].kind = kind
        isMinified = false
        nodes[index].isResolved = true
        nodes[index].start = UInt32(start)
        nodes[index].end = UInt32(resolved.count)
        nodes[index].extra = 0
        replacedLength += bytes(of: node).canonicalLengthLimit
    }
}
