extension JSONDocument {
    /// Appends a value as canonical JSON.
    ///
    /// Keys are sorted by their UTF-8 bytes, there is no white space, escapes are as short as possible, and numbers are
    /// as stored.
    public func write(_ node: JSONNode, to output: inout TextBuffer) {
        output.append(atMost: canonicalLengthLimit(of: node)) { output in
            var writer = JSONWriter(self)
            writer.write(Int(node.index), to: &output)
        }
    }

    /// Appends a value as canonical JSON.
    public func write(_ node: JSONNode, to output: inout [UInt8]) {
        var text = TextBuffer()
        write(node, to: &text)
        output += text[0..<text.count]
    }

    /// Appends the members of `object` for which `isWanted` returns `true`, as a canonical JSON object.
    ///
    /// `added` is another member of the result, whose key `object` must not contain and whose value is canonical JSON.
    /// If there are no members, nothing is appended.
    public func write(
        membersOf object: JSONNode, adding added: (key: JSONKey, json: [UInt8])? = nil, to output: inout TextBuffer,
        where isWanted: (JSONMember) -> Bool
    ) {
        let start = output.count
        var pending = added
        for place in 0..<memberCount(of: object) {
            let member = member(at: place, of: object)
            guard isWanted(member) else { continue }
            if let added = pending, bytes(of: member.key).ordered(against: added.key) > 0 {
                output.append(added, inObjectAt: start)
                pending = nil
            }
            output.append(output.count == start ? UInt8(ascii: "{") : UInt8(ascii: ","))
            write(member.key, to: &output)
            output.append(UInt8(ascii: ":"))
            write(member.value, to: &output)
        }
        if let added = pending { output.append(added, inObjectAt: start) }
        if output.count > start { output.append(UInt8(ascii: "}")) }
    }

    /// Returns a value as canonical JSON.
    public func canonicalBytes(of node: JSONNode) -> [UInt8] {
        var output = TextBuffer()
        write(node, to: &output)
        return output.takeBytes()
    }

    /// Whether the source is known to be canonical JSON.
    ///
    /// If the property is `false`, the source may still be canonical.
    public var isKnownCanonical: Bool {
        guard isMinified, resolved.count == 0 else { return false }
        var index = 0
        while index < members.count {
            let end = index + Int(members[index])
            var last: UInt32 = 0
            while index < end {
                index += 1
                guard members[index] > last else { return false }
                last = members[index]
            }
            index += 1
        }
        return true
    }

    /// Returns the maximum size, in bytes, of the canonical JSON of a value.
    private func canonicalLengthLimit(of node: JSONNode) -> Int {
        let entry = nodes[Int(node.index)]
        let length = Int(entry.end - entry.start)
        // Values that were not replaced do not get longer than in the source.
        if entry.isContainer { return length + replacedLength }
        return entry.isResolved ? bytes(of: node).canonicalLengthLimit : length + 2
    }
}

extension TextBuffer {
    /// Appends a member to the object that begins at `start`.
    fileprivate mutating func append(_ member: (key: JSONKey, json: [UInt8]), inObjectAt start: Int) {
        append(count == start ? UInt8(ascii: "{") : UInt8(ascii: ","))
        append(jsonString: member.key.utf8.span)
        append(UInt8(ascii: ":"))
        append(copying: member.json.span)
    }
}

extension Span<UInt8> {
    /// The maximum size, in bytes, of a canonical JSON string with these bytes as its contents.
    var canonicalLengthLimit: Int {
        var limit = count + 2
        for index in indices {
            let byte = self[index]
            let mayNeedEscape =
                byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0xED
            if mayNeedEscape { limit += 5 }
        }
        return limit
    }
}

/// A writer of a value into memory of sufficient size, without recursion.
private struct JSONWriter: ~Copyable, ~Escapable {
    /// An array or object that is being written.
    struct Container {
        let isObject: Bool
        /// The index of the next node of an array, or the index in `members` of the next key of an object.
        var nextIndex: Int
        /// The upper bound of `nextIndex`.
        let endIndex: Int
    }

    let nodes: Span<JSONDocument.Node>
    let members: Span<UInt32>
    let source: Span<UInt8>
    let resolved: Span<UInt8>
    private var outerContainers: [Container] = []

    @_lifetime(borrow document)
    init(_ document: borrowing JSONDocument) {
        nodes = document.nodes.span
        members = document.members.span
        source = document.source.span
        resolved = document.resolved.span
    }

    mutating func write(_ root: Int, to output: inout TextWriter) {
        guard var container = beginContainer(root, to: &output) else { return }
        var isFirst = true
        while true {
            guard let index = nextValue(in: &container, isFirst: isFirst, to: &output) else {
                output.append(container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                guard let last = outerContainers.popLast() else { return }
                container = last
                isFirst = false
                continue
            }
            isFirst = false
            if let inner = beginContainer(index, to: &output) {
                // Reserve memory once for a typical depth. Values without nested containers allocate nothing.
                if outerContainers.isEmpty { outerContainers.reserveCapacity(8) }
                outerContainers.append(container)
                container = inner
                isFirst = true
            }
        }
    }

    /// Begins an array or object that has nested containers, or writes any other value and returns `nil`.
    private func beginContainer(_ index: Int, to output: inout TextWriter) -> Container? {
        let node = nodes[index]
        switch node.kind {
        case .array:
            output.append(UInt8(ascii: "["))
            guard node.isFlatArray(at: index) else {
                return Container(isObject: false, nextIndex: index + 1, endIndex: Int(node.next))
            }
            writeElements(index + 1..<Int(node.next), to: &output)
        case .object:
            output.append(UInt8(ascii: "{"))
            let start = Int(node.extra) + 1
            let end = start + Int(members[start - 1])
            // A flat object has exactly one node for each key and each value.
            let isFlat = Int(node.next) == index + 1 + 2 * (end - start)
            guard isFlat else { return Container(isObject: true, nextIndex: start, endIndex: end) }
            writeMembers(start..<end, to: &output)
        default:
            writeScalar(node, to: &output)
        }
        return nil
    }

    /// Writes the elements and the closing bracket of an array that contains only scalars and empty containers.
    private func writeElements(_ elements: Range<Int>, to output: inout TextWriter) {
        for index in elements {
            if index > elements.lowerBound { output.append(UInt8(ascii: ",")) }
            writeFlat(nodes[index], to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Writes the members and the closing brace of an object that contains only scalars and empty containers.
    private func writeMembers(_ positions: Range<Int>, to output: inout TextWriter) {
        for index in positions {
            if index > positions.lowerBound { output.append(UInt8(ascii: ",")) }
            let key = Int(members[index])
            writeString(nodes[key], to: &output)
            output.append(UInt8(ascii: ":"))
            writeFlat(nodes[key + 1], to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Writes a scalar, or an empty array or object.
    private func writeFlat(_ node: JSONDocument.Node, to output: inout TextWriter) {
        guard node.isContainer else { return writeScalar(node, to: &output) }
        output.append(node.kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        output.append(node.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    private func writeScalar(_ node: JSONDocument.Node, to output: inout TextWriter) {
        if node.kind == .string {
            writeString(node, to: &output)
        } else {
            output.append(copyingShort: node.isResolved ? resolved : source, from: node.start, to: node.end)
        }
    }

    /// Writes the comma and the key before the next value in a container, and returns the index of the value.
    private func nextValue(
        in container: inout Container, isFirst: Bool, to output: inout TextWriter
    ) -> Int? {
        var index = container.nextIndex
        if container.isObject {
            guard index < container.endIndex else { return nil }
            container.nextIndex = index + 1
            if !isFirst { output.append(UInt8(ascii: ",")) }
            index = Int(members[index])
            writeString(nodes[index], to: &output)
            output.append(UInt8(ascii: ":"))
            return index + 1
        }
        while index < container.endIndex {
            container.nextIndex = Int(nodes[index].next)
            if nodes[index].kind != .removed {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                return index
            }
            index = container.nextIndex
        }
        return nil
    }

    private func writeString(_ node: JSONDocument.Node, to output: inout TextWriter) {
        if node.isResolved {
            output.append(jsonString: resolved.extracting(Int(node.start)..<Int(node.end)))
        } else {
            output.append(copyingShort: source, from: node.start - 1, to: node.end + 1)
        }
    }
}

extension [UInt8] {
    /// Appends UTF-8 or WTF-8 as a JSON string with the shortest escapes.
    ///
    /// Escapes are used only for lone surrogates and for the characters that must be escaped according to RFC 8259.
    public mutating func append(jsonString text: Span<UInt8>) {
        var string = TextBuffer()
        string.append(atMost: text.canonicalLengthLimit) { $0.append(jsonString: text) }
        append(contentsOf: string[0..<string.count])
    }

    /// Appends a string as a JSON string.
    public mutating func append(jsonString text: String) {
        append(jsonString: text.utf8.span)
    }
}
