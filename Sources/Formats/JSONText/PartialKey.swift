/// A key whose parts are read from consecutive pieces of a text.
struct PartialKey: Sendable {
    /// The length, in bytes, above which further parts of a key are ignored.
    ///
    /// Keys of that length are never looked up.
    private static let maximumLength = 256

    private var bytes: [UInt8] = []

    /// Removes the key, but keeps the memory for reuse.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a part of the key, in which escapes are not yet resolved.
    mutating func append(_ part: Span<UInt8>) {
        if bytes.count <= Self.maximumLength { bytes.append(copying: part) }
    }

    /// The key with its escapes resolved, or an empty key if it is malformed.
    var resolved: [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        guard let document = try? JSONDocument(quoted) else { return [] }
        return document.bytes(of: document.root).copied()
    }
}
