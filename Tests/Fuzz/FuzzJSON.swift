import JSONText

/// Reads hostile bytes under every policy and checks the invariants of reading, editing and writing.
func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    var canonical: [[UInt8]?] = []
    for policy in Policies.all {
        canonical.append(canonicalForm(of: text, policy: policy))
    }
    checkAgreement(canonical)
    editEverything(in: text)
    readValues(of: text)
    checkNumber(text)
    return 0
}

private enum Policies {
    /// All policies, ordered so that the two bits of the index are the deviations that a policy accepts.
    static let all = [
        JSONReadingPolicy.strict,
        JSONReadingPolicy(duplicateKeys: .lastWins),
        JSONReadingPolicy(unpairedSurrogates: .keep),
        JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep),
    ]
    static let lenient = all[3]
}

/// Returns the canonical form of a text, or `nil` if the text is rejected, and checks that reading is reproducible.
private func canonicalForm(of text: [UInt8], policy: JSONReadingPolicy) -> [UInt8]? {
    var document = JSONDocument()
    do throws(JSONError) {
        try document.read(text, policy: policy)
    } catch {
        precondition((0...text.count).contains(error.offset), "the offset is outside of the text")
        precondition(
            document.canonicalBytes(of: document.root) == Array("null".utf8), "the document is not null after an error")
        precondition(fault(in: text, readBy: &document, policy) == error, "the second error differs")
        return nil
    }
    let canonical = document.canonicalBytes(of: document.root)
    precondition(canonical.count <= text.count, "the canonical form is longer than the text")
    precondition(!document.isKnownCanonical || canonical == text, "the text is wrongly detected as canonical")
    guard let again = try? JSONDocument(canonical, policy: policy) else {
        preconditionFailure("the canonical form is rejected")
    }
    precondition(again.canonicalBytes(of: again.root) == canonical, "the canonical form changes when it is read")
    checkPlaces(in: document, document.root, text)
    precondition(fault(in: text, readBy: &document, policy) == nil, "the text is rejected the second time")
    precondition(document.canonicalBytes(of: document.root) == canonical, "the value differs the second time")
    return canonical
}

/// Returns the error of reading a text into a document that was used before.
private func fault(in text: [UInt8], readBy document: inout JSONDocument, _ policy: JSONReadingPolicy) -> JSONError? {
    do throws(JSONError) {
        try document.read(text, policy: policy)
        return nil
    } catch {
        return error
    }
}

/// Checks that a policy does not change the value of a text that a stricter policy accepts.
private func checkAgreement(_ canonical: [[UInt8]?]) {
    for stricter in canonical.indices {
        // The two bits of an index are the accepted deviations.
        for laxer in canonical.indices where laxer & stricter == stricter {
            guard let expected = canonical[stricter] else { continue }
            precondition(canonical[laxer] == expected, "the value depends on the policy")
        }
    }
}

/// Checks source ranges, counts and the order of keys.
private func checkPlaces(in document: JSONDocument, _ node: JSONNode, _ text: [UInt8]) {
    if let range = document.sourceRange(of: node) {
        precondition(document.bytes(of: node).equals(text.span.extracting(range)), "the source range is wrong")
    }
    switch document.kind(of: node) {
    case .array:
        let elements = document.elements(of: node)
        precondition(elements.count == document.count(of: node), "the count is wrong")
        for element in elements { checkPlaces(in: document, element, text) }
    case .object:
        for position in 0..<document.count(of: node) {
            let member = document.member(at: position, of: node)
            if position > 0 {
                let previous = document.bytes(of: document.member(at: position - 1, of: node).key)
                precondition(
                    previous.ordered(against: document.bytes(of: member.key)) < 0, "the keys are not in order")
            }
            checkPlaces(in: document, member.value, text)
        }
    default:
        precondition(document.count(of: node) == 0, "the scalar has a count")
    }
}

/// Removes and replaces values as the bytes of the text determine, and checks that the result is canonical.
private func editEverything(in text: [UInt8]) {
    guard var document = try? JSONDocument(text, policy: Policies.lenient) else { return }
    var decisions = text.reversed().makeIterator()
    edit(&document, document.root, &decisions)
    let canonical = document.canonicalBytes(of: document.root)
    precondition(!document.isKnownCanonical || canonical == text, "the text is wrongly detected as canonical")
    guard let again = try? JSONDocument(canonical, policy: Policies.lenient) else {
        preconditionFailure("the edited document is rejected")
    }
    precondition(again.canonicalBytes(of: again.root) == canonical, "the edited document is not canonical")
}

private func edit(
    _ document: inout JSONDocument, _ node: JSONNode, _ decisions: inout ReversedCollection<[UInt8]>.Iterator
) {
    switch (decisions.next() ?? 0) & 0xF {
    case 1: return document.replace(node, with: false)
    case 2: return document.replace(node, withNumber: "-1.5e+10".utf8)
    case 3: return document.replace(node, withString: "\u{0}\"\\\u{10FFFF}".utf8)
    case 4 where document.kind(of: node) == .string:
        return document.replace(node, withString: document.bytes(of: node).copied())
    case 5:
        document.removeMembers(from: node) { document, member in document.kind(of: member.value) == .string }
    default: break
    }
    for element in document.elements(of: node) {
        if (decisions.next() ?? 0) & 3 == 3 {
            document.removeElement(element, from: node)
        } else {
            edit(&document, element, &decisions)
        }
    }
    guard document.kind(of: node) == .object else { return }
    for member in (0..<document.count(of: node)).map({ document.member(at: $0, of: node) }) {
        if (decisions.next() ?? 0) & 3 == 3 {
            document.removeMember(withValue: member.value, from: node)
        } else {
            edit(&document, member.value, &decisions)
        }
    }
}

/// Reads consecutive values, and checks that the position advances within the text.
private func readValues(of text: [UInt8]) {
    var document = JSONDocument()
    var position = 0
    while position < text.count {
        guard let end = try? document.readValue(in: text, range: position..<text.count) else { return }
        precondition(end > position && end <= text.count, "the position does not advance")
        position = end
    }
}

/// Checks that the reader and the functions for numbers agree on the syntax of numbers.
private func checkNumber(_ text: [UInt8]) {
    let document = try? JSONDocument(text)
    let isNumber = document.map {
        $0.kind(of: $0.root) == .number && $0.sourceRange(of: $0.root) == text.indices
    }
    precondition((DecimalParts(text.span) != nil) == (isNumber ?? false), "the syntaxes of numbers differ")
    _ = JSONNumberText.isNegative(text.span)
    _ = JSONNumberText.isPlainInteger(text.span)
    guard let integer = JSONNumberText.integer(from: text.span) else { return }
    precondition(JSONNumberText.isPlainInteger(integer.span), "the integer is malformed")
    precondition(integer.count <= JSONNumberText.digitLimit + 1, "the integer is too long")
}
