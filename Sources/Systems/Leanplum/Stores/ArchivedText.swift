import PropertyList

/// A decoder for keyed archives that contain a string.
///
/// The SDK reads all BLOBs as such archives.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.2.
enum ArchivedText {
    /// Returns the UTF-8 bytes of the archived string, or `nil` if `bytes` are not a keyed archive of a string.
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
