import Bytes
import JSONText

/// Makes pseudonyms, and caches the last pseudonym of each class.
///
/// The cache is effective because most records of a store belong to one client, and the id of a record is repeated in
/// its target.
struct PseudonymMaker: Sendable {
    private let key: PseudonymKey
    /// Whether values that have the form of a pseudonym are kept.
    ///
    /// This is the case for records that already have pseudonyms of the same key.
    var leavesPseudonyms = false
    private var classes: [PseudonymClass: Known] = [:]

    /// The cached state of a class and its last pseudonym.
    private struct Known: Sendable {
        let start: PseudonymKey.Start
        var value: [UInt8] = []
        var pseudonym: [UInt8] = []
    }

    init(_ key: PseudonymKey) {
        self.key = key
    }

    /// Returns the pseudonym of a value.
    ///
    /// An empty value stays empty, because it means that there is no value.
    mutating func pseudonym(of value: Span<UInt8>, _ kind: PseudonymClass) -> [UInt8] {
        if value.isEmpty || leavesPseudonyms && value.isPseudonym { return value.copied() }
        var known = classes[kind] ?? Known(start: key.start(of: kind))
        if value.equals(known.value.span) { return known.pseudonym }
        known.value = value.copied()
        known.pseudonym = key.pseudonym(of: known.value, from: known.start)
        classes[kind] = known
        return known.pseudonym
    }

    /// Returns the pseudonym of a string.
    mutating func pseudonym(of text: String, _ kind: PseudonymClass) -> String {
        String(decoding: pseudonym(of: text.utf8.span, kind), as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// Whether the bytes have the form of a pseudonym: 32 hexadecimal digits or a UUID of version 8, in lowercase.
    fileprivate var isPseudonym: Bool {
        let isUUIDOfVersion8 = isUUID && self[14] == UInt8(ascii: "8")
        guard isUUIDOfVersion8 || count == 32 else { return false }
        for index in indices where self[index].lowercased != self[index] { return false }
        guard !isUUIDOfVersion8 else { return true }
        for index in indices where self[index].hexadecimalValue == nil { return false }
        return true
    }
}
