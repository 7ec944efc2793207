import PropertyList

/// Reads hostile bytes as a property list, and checks that an accepted document is consistent.
func fuzzBinaryPropertyList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(PropertyListError) {
        let document = try PropertyListDocument(bytes)
        precondition((0...count).contains(document.repeatedKeys?.offset ?? 0))
        var budget = 20_000
        walk(document.root, of: document, depth: 1, budget: &budget)
    } catch {
        precondition((0...count).contains(error.offset), "the offset is outside of the file")
    }
    return 0
}

private func walk(_ node: PropertyListNode, of document: PropertyListDocument, depth: Int, budget: inout Int) {
    precondition(depth <= 512, "the value is too deep")
    precondition(document.offset(of: node) < document.sourceLength, "the offset is outside of the file")
    budget -= 1
    guard budget > 0 else { return }
    switch document.kind(of: node) {
    case .text:
        precondition(document.text(node, equals: Array(document.string(of: node).utf8)) || document.isUTF16(node))
    case .array:
        let elements = document.elements(of: node)
        for position in 0..<elements.count where budget > 0 {
            walk(document.element(at: position, of: elements), of: document, depth: depth + 1, budget: &budget)
        }
    case .dictionary:
        let members = document.members(of: node)
        for position in 0..<members.count where budget > 0 {
            let key = document.key(at: position, of: members)
            precondition(document.kind(of: key) == .text, "the key is not a string")
            for earlier in max(0, position - 8)..<position {
                precondition(
                    !document.text(document.key(at: earlier, of: members), equals: key), "the key is repeated")
            }
            walk(document.value(at: position, of: members), of: document, depth: depth + 1, budget: &budget)
        }
    case .null, .boolean, .integer, .real, .date, .data, .uid:
        precondition(document.payload(of: node).count < document.sourceLength)
        _ = (document.integer(of: node).description, document.real(of: node), document.uid(of: node))
    }
}
