import JSONText

/// Reads hostile bytes under every policy and checks what must hold whatever they are.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
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
    /// Each allows what those before it allow that it does not exclude; the strict one comes first.
    static let all = [
        JSONReadingPolicy.strict,
        JSONReadingPolicy(duplicateKeys: .lastWins),
        JSONReadingPolicy(unpairedSurrogates: .keep),
        JSONReadingPolicy(duplicateKeys: .lastWins, unpairedSurrogates: .keep),
    ]
    static let lenient = all[3]
}

/// The canonical form, nil if the text is refused. It reads again, under the same policy, as itself.
private func canonicalForm(of text: [UInt8], policy: JSONReadingPolicy) -> [UInt8]? {
    var document = JSONDocument()
    do throws(JSONError) {
        try document.read(text, policy: policy)
    } catch {
        precondition((0...text.count).contains(error.offset), "the offset lies outside of the text")
        precondition(
            document.canonicalBytes(of: document.root) == Array("null".utf8), "a value after a fault")
        precondition(fault(in: text, readBy: &document, policy) == error, "another fault the second time")
        return nil
    }
    let canonical = document.canonicalBytes(of: document.root)
    precondition(canonical.count <= text.count, "the canonical form is longer than the text")
    precondition(!document.isPlainlyCanonical || canonical == text, "taken for its canonical form")
    guard let again = try? JSONDocument(canonical, policy: policy) else {
        preconditionFailure("the canonical form is refused")
    }
    precondition(again.canonicalBytes(of: again.root) == canonical, "the canonical form is no fixed point")
    checkPlaces(in: document, document.root, text)
    precondition(fault(in: text, readBy: &document, policy) == nil, "a fault the second time")
    precondition(document.canonicalBytes(of: document.root) == canonical, "something else the second time")
    return canonical
}

/// Reads a text with a document that learned the orders of keys from it.
private func fault(in text: [UInt8], readBy document: inout JSONDocument, _ policy: JSONReadingPolicy) -> JSONError? {
    do throws(JSONError) {
        try document.read(text, policy: policy)
        return nil
    } catch {
        return error
    }
}

/// A policy that allows more changes nothing for texts that another one accepts.
private func checkAgreement(_ canonical: [[UInt8]?]) {
    for stricter in canonical.indices {
        // The two bits of an index say what is allowed.
        for laxer in canonical.indices where laxer & stricter == stricter {
            guard let expected = canonical[stricter] else { continue }
            precondition(canonical[laxer] == expected, "a laxer policy gives something else")
        }
    }
}

/// Members are found by their keys, elements are as many as counted, and source places hold what they should.
private func checkPlaces(in document: JSONDocument, _ node: JSONNode, _ text: [UInt8]) {
    if let range = document.sourceRange(of: node) {
        precondition(document.bytes(of: node).equals(text.span.extracting(range)), "a wrong place")
    }
    switch document.kind(of: node) {
    case .array:
        let elements = document.elements(of: node)
        precondition(elements.count == document.count(of: node), "a wrong count")
        for element in elements { checkPlaces(in: document, element, text) }
    case .object:
        for position in 0..<document.count(of: node) {
            let member = document.member(at: position, of: node)
            if position > 0 {
                let previous = document.bytes(of: document.member(at: position - 1, of: node).key)
                precondition(
                    previous.ordered(against: document.bytes(of: member.key)) < 0, "keys out of order")
            }
            checkPlaces(in: document, member.value, text)
        }
    default:
        precondition(document.count(of: node) == 0, "a scalar with content")
    }
}

/// Takes out and replaces values as the bytes of the text have it; what is left reads again as itself.
private func editEverything(in text: [UInt8]) {
    guard var document = try? JSONDocument(text, policy: Policies.lenient) else { return }
    var decisions = text.reversed().makeIterator()
    edit(&document, document.root, &decisions)
    let canonical = document.canonicalBytes(of: document.root)
    precondition(!document.isPlainlyCanonical || canonical == text, "taken for its canonical form")
    guard let again = try? JSONDocument(canonical, policy: Policies.lenient) else {
        preconditionFailure("an edited document is refused")
    }
    precondition(again.canonicalBytes(of: again.root) == canonical, "an edited document is not canonical")
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

/// Reads one value after the other; each read moves on and stays inside.
private func readValues(of text: [UInt8]) {
    var document = JSONDocument()
    var position = 0
    while position < text.count {
        guard let end = try? document.readValue(in: text, range: position..<text.count) else { return }
        precondition(end > position && end <= text.count, "reading did not move on")
        position = end
    }
}

/// What the reader takes for a number is one for the number functions as well, and the other way round.
private func checkNumber(_ text: [UInt8]) {
    let document = try? JSONDocument(text)
    let isNumber = document.map {
        $0.kind(of: $0.root) == .number && $0.sourceRange(of: $0.root) == text.indices
    }
    precondition((DecimalParts(text.span) != nil) == (isNumber ?? false), "two views of what is a number")
    _ = JSONNumberText.isNegative(text.span)
    _ = JSONNumberText.isPlainInteger(text.span)
    guard let integer = JSONNumberText.integer(from: text.span) else { return }
    precondition(JSONNumberText.isPlainInteger(integer.span), "an integer that is none")
    precondition(integer.count <= JSONNumberText.digitLimit + 1, "an integer that is too long")
}
