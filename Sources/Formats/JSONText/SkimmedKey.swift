/// A key that a text in pieces spells, as far as it matters.
struct SkimmedKey: Sendable {
    /// Keys longer than this are not asked for.
    private static let longest = 256

    private var bytes: [UInt8] = []

    /// Forgets the key, keeps the memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends a part of the key as it is spelled.
    mutating func append(_ part: Span<UInt8>) {
        if bytes.count <= Self.longest { bytes.append(copying: part) }
    }

    /// The key with its escapes resolved; one that is malformed is not asked for.
    var resolved: [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        guard let document = try? JSONDocument(quoted) else { return [] }
        return document.bytes(of: document.root).copied()
    }
}
