import PropertyList

/// A reader for BLOBs with the keyed archive of a string, which is how the SDK reads all BLOBs.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.2.
enum ArchivedText {
    /// Returns the UTF-8 bytes of the string, or `nil` if the bytes are not the archive of a string.
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
