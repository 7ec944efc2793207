import Bytes
import JSONText

/// A generator of pseudonyms that caches the last pseudonym of each class.
///
/// The cache is effective because most records of a store belong to one client, and because the target of a record
/// repeats the record's id.
struct PseudonymMaker: Sendable {
    private let key: PseudonymKey
    /// Whether values that look like pseudonyms are kept, because the current record already has pseudonyms of the same
    /// key.
    var keepsPseudonyms = false
    private var classes: [PseudonymClass: ClassState] = [:]

    /// The cached HMAC state and the last pseudonym of a class.
    private struct ClassState: Sendable {
        let prefix: PseudonymKey.ClassPrefix
        var value: [UInt8] = []
        var pseudonym: [UInt8] = []
    }

    init(_ key: PseudonymKey) { self.key = key }

    /// Returns the pseudonym of a value.
    ///
    /// An empty value is returned unchanged, because it is not an id.
    mutating func pseudonym(of value: Span<UInt8>, _ kind: PseudonymClass) -> [UInt8] {
        if value.isEmpty || keepsPseudonyms && value.isPseudonym { return value.copied() }
        var state = classes[kind] ?? ClassState(prefix: key.classPrefix(of: kind))
        if value.equals(state.value.span) { return state.pseudonym }
        state.value = value.copied()
        state.pseudonym = key.pseudonym(of: state.value, from: state.prefix)
        classes[kind] = state
        return state.pseudonym
    }

    mutating func pseudonym(of text: String, _ kind: PseudonymClass) -> String {
        String(decoding: pseudonym(of: text.utf8.span, kind), as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// Whether the bytes have the form of a pseudonym: 32 hexadecimal digits or a UUID of version 8, in lowercase.
    fileprivate var isPseudonym: Bool {
        let isUUIDOfVersion8 = isUUID && self[14] == UInt8(ascii: "8")
        guard isUUIDOfVersion8 || count == 32 else { return false }
        return allSatisfy { $0.lowercased == $0 && (isUUIDOfVersion8 || $0.hexadecimalValue != nil) }
    }
}
