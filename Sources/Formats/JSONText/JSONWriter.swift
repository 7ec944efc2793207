extension JSONDocument {
    /// Appends a value as canonical JSON: keys by UTF-8 bytes, no spaces, shortest escapes, numbers as stored.
    public func write(_ node: JSONNode, to output: inout TextBuffer) {
        output.append(room: canonicalLengthLimit(of: node)) { output in
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

    /// A value as canonical JSON.
    public func canonicalBytes(of node: JSONNode) -> [UInt8] {
        var output = TextBuffer()
        write(node, to: &output)
        return output.takeBytes()
    }

    /// Whether the text that was read is its own canonical form, as can be told without writing it: nothing stands between
    /// the values, all keys are in order, and nothing is escaped or was changed since. Where it is false, nothing is known.
    public var isPlainlyCanonical: Bool {
        guard isDense, resolved.count == 0 else { return false }
        var place = 0
        while place < members.count {
            let end = place + Int(members[place])
            var last: UInt32 = 0
            while place < end {
                place += 1
                guard members[place] > last else { return false }
                last = members[place]
            }
            place += 1
        }
        return true
    }

    /// A length that the canonical form of a value does not exceed. Of what was read, none gets longer than it was;
    /// what was put in its place is counted in `replacedLength`.
    private func canonicalLengthLimit(of node: JSONNode) -> Int {
        let entry = nodes[Int(node.index)]
        let length = Int(entry.end - entry.start)
        if entry.isContainer { return length + replacedLength }
        return entry.isResolved ? bytes(of: node).canonicalLengthLimit : length + 2
    }
}

extension Span<UInt8> {
    /// A length that these bytes, be they a string, a number or a word, do not exceed in canonical JSON: quotation
    /// marks around them, and up to six bytes for one that may have to be escaped.
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

/// Walks a value and writes it into memory that is known to suffice.
///
/// The arrays and objects that are open are kept in `outer`, so the depth of the value costs no stack.
private struct JSONWriter: ~Copyable, ~Escapable {
    /// An array or object of which a part is written.
    struct Container {
        let isObject: Bool
        /// For an array the next node, for an object the next place in `members`.
        var next: Int
        /// Where `next` ends.
        let end: Int
    }

    let nodes: Span<JSONDocument.Node>
    let members: Span<UInt32>
    let source: Span<UInt8>
    let resolved: Span<UInt8>
    var outer: [Container] = []

    @_lifetime(borrow document)
    init(_ document: borrowing JSONDocument) {
        nodes = document.nodes.span
        members = document.members.span
        source = document.source.span
        resolved = document.resolved.span
    }

    mutating func write(_ root: Int, to output: inout TextWriter) {
        guard var container = begin(root, to: &output) else { return }
        var isFirst = true
        while true {
            guard let index = nextValue(in: &container, isFirst: isFirst, to: &output) else {
                output.append(container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                guard let last = outer.popLast() else { return }
                container = last
                isFirst = false
                continue
            }
            isFirst = false
            if let inner = begin(index, to: &output) {
                // As deep as payloads are: memory is asked for once, and not for a scalar.
                if outer.isEmpty { outer.reserveCapacity(8) }
                outer.append(container)
                container = inner
                isFirst = true
            }
        }
    }

    /// Writes a scalar, or an array or object whose values are scalars or empty; only opens any other one.
    private func begin(_ index: Int, to output: inout TextWriter) -> Container? {
        let node = nodes[index]
        switch node.kind {
        case .array:
            output.append(UInt8(ascii: "["))
            guard node.isFlatArray(at: index) else {
                return Container(isObject: false, next: index + 1, end: Int(node.next))
            }
            writeElements(index + 1..<Int(node.next), to: &output)
        case .object:
            output.append(UInt8(ascii: "{"))
            let start = Int(node.extra) + 1
            let end = start + Int(members[start - 1])
            // There is a node for each key and each value, and no other.
            let isFlat = Int(node.next) == index + 1 + 2 * (end - start)
            guard isFlat else { return Container(isObject: true, next: start, end: end) }
            writeMembers(start..<end, to: &output)
        default:
            writeScalar(node, to: &output)
        }
        return nil
    }

    /// Writes the rest of an array whose elements are scalars or empty.
    private func writeElements(_ elements: Range<Int>, to output: inout TextWriter) {
        for index in elements {
            if index > elements.lowerBound { output.append(UInt8(ascii: ",")) }
            writeFlat(nodes[index], to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Writes the rest of an object whose values are scalars or empty.
    private func writeMembers(_ places: Range<Int>, to output: inout TextWriter) {
        for place in places {
            if place > places.lowerBound { output.append(UInt8(ascii: ",")) }
            let key = Int(members[place])
            writeString(nodes[key], to: &output)
            output.append(UInt8(ascii: ":"))
            writeFlat(nodes[key + 1], to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Writes a scalar, or an empty array or object.
    @inline(__always)
    private func writeFlat(_ node: JSONDocument.Node, to output: inout TextWriter) {
        guard node.isContainer else { return writeScalar(node, to: &output) }
        output.append(node.kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        output.append(node.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    @inline(__always)
    private func writeScalar(_ node: JSONDocument.Node, to output: inout TextWriter) {
        if node.kind == .string {
            writeString(node, to: &output)
        } else {
            output.append(copyingShort: node.isResolved ? resolved : source, from: node.start, to: node.end)
        }
    }

    /// Moves on to the next value in a container, with the comma and the key before it.
    private func nextValue(
        in container: inout Container, isFirst: Bool, to output: inout TextWriter
    ) -> Int? {
        var index = container.next
        if container.isObject {
            guard index < container.end else { return nil }
            container.next = index + 1
            if !isFirst { output.append(UInt8(ascii: ",")) }
            index = Int(members[index])
            writeString(nodes[index], to: &output)
            output.append(UInt8(ascii: ":"))
            return index + 1
        }
        while index < container.end {
            container.next = Int(nodes[index].next)
            if nodes[index].kind != .removed {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                return index
            }
            index = container.next
        }
        return nil
    }

    @inline(__always)
    private func writeString(_ node: JSONDocument.Node, to output: inout TextWriter) {
        if node.isResolved {
            output.append(jsonString: resolved.extracting(Int(node.start)..<Int(node.end)))
        } else {
            output.append(copyingShort: source, from: node.start - 1, to: node.end + 1)
        }
    }
}

extension [UInt8] {
    /// Appends a text as a JSON string with the shortest escapes: only what RFC 8259 demands is escaped, and a lone
    /// surrogate (WTF-8), which UTF-8 cannot express.
    public mutating func append(jsonString text: Span<UInt8>) {
        var string = TextBuffer()
        string.append(room: text.canonicalLengthLimit) { $0.append(jsonString: text) }
        append(contentsOf: string[0..<string.count])
    }

    /// Appends a text as a JSON string.
    public mutating func append(jsonString text: String) {
        guard text.utf8.span.needsNoEscape else { return append(jsonString: text.utf8.span) }
        append(UInt8(ascii: "\""))
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\""))
    }
}
