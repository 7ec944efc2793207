import Bytes
import JSONText

/// Makes pseudonyms, and remembers the last one of each class: in one store, most records are of one client.
struct PseudonymMaker: Sendable {
    private let key: PseudonymKey
    /// Whether what has the form of a pseudonym is left as it is, as in records that the same key was used on.
    var leavesPseudonyms = false
    private var last: [PseudonymClass: (value: [UInt8], pseudonym: [UInt8])] = [:]

    init(_ key: PseudonymKey) {
        self.key = key
    }

    /// The pseudonym of a value; an empty value says that there is none, and stays empty.
    mutating func pseudonym(of value: Span<UInt8>, _ kind: PseudonymClass) -> [UInt8] {
        if value.isEmpty || leavesPseudonyms && value.isPseudonym { return value.copied() }
        if let last = last[kind], value.equals(last.value.span) { return last.pseudonym }
        let bytes = value.copied()
        let pseudonym = key.pseudonym(of: bytes, kind)
        last[kind] = (bytes, pseudonym)
        return pseudonym
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
