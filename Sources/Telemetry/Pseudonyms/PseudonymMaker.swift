import Bytes
import JSONText

/// Makes pseudonyms, and remembers the last one of each class: in one store, most records are of one client, and the id of a record
/// stands in its target too.
struct PseudonymMaker: Sendable {
    private let key: PseudonymKey
    /// Whether what has the form of a pseudonym is left as it is, as in records that the same key was used on.
    var leavesPseudonyms = false
    private var classes: [PseudonymClass: Known] = [:]

    /// What is known of a class: what its pseudonyms begin with, and the last one.
    private struct Known: Sendable {
        let start: PseudonymKey.Start
        var value: [UInt8] = []
        var pseudonym: [UInt8] = []
    }

    init(_ key: PseudonymKey) {
        self.key = key
    }

    /// The pseudonym of a value; an empty value says that there is none, and stays empty.
    mutating func pseudonym(of value: Span<UInt8>, _ kind: PseudonymClass) -> [UInt8] {
        if value.isEmpty || leavesPseudonyms && value.isPseudonym { return value.copied() }
        var known = classes[kind] ?? Known(start: key.start(of: kind))
        if value.equals(known.value.span) { return known.pseudonym }
        known.value = value.copied()
        known.pseudonym = key.pseudonym(of: known.value, from: known.start)
        classes[kind] = known
        return known.pseudonym
    }

    /// The pseudonym of a text.
    mutating func pseudonym(of text: String, _ kind: PseudonymClass) -> String {
        String(decoding: pseudonym(of: text.utf8.span, kind), as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// Whether the bytes have the form of a pseudonym: 32 hexadecimal digits, or a UUID of version 8, in lower case.
    fileprivate var isPseudonym: Bool {
        let isUUIDOfVersion8 = isUUID && self[14] == UInt8(ascii: "8")
        guard isUUIDOfVersion8 || count == 32 else { return false }
        for index in indices where self[index].lowercased != self[index] { return false }
        guard !isUUIDOfVersion8 else { return true }
        for index in indices where self[index].hexadecimalValue == nil { return false }
        return true
    }
}
