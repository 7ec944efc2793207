import PropertyList

/// A BLOB that is a keyed archive of a string: what Leanplum's own reader takes a BLOB for.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.2.
enum ArchivedText {
    /// The UTF-8 of the string; nil if the bytes are something else.
    static func read(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.starts(with: "bplist".utf8), let document = try? PropertyListDocument(bytes),
            document.repeatedKeys == nil, var archive = try? KeyedArchive(document), let root = try? archive.root(),
            case .text(let node)? = try? archive.value(ofObject: root)
        else { return nil }
        var text: [UInt8] = []
        document.appendUTF8(of: node, to: &text)
        return text
    }
}
