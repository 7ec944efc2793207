import JSONText

/// Writes payloads anew by the rules of their system: what stays, pseudonyms, and nothing else.
struct PayloadPseudonymizer: Sendable {
    /// Writes, makes the pseudonyms, and counts what is left out.
    var writer: PseudonymWriter
    private var document = JSONDocument()

    /// A payload of 512 levels is the deepest that a record has.
    private static let policy = JSONReadingPolicy(unpairedSurrogates: .keep)

    init(_ maker: PseudonymMaker) {
        writer = PseudonymWriter(maker)
    }

    /// The payload by the rules of a table; nothing stays of one that is no object, or that cannot be read.
    mutating func rewritten(_ bytes: [UInt8], by table: PseudonymTable) -> [UInt8] {
        defer { document.reset() }
        guard (try? document.read(bytes, policy: Self.policy)) != nil, document.kind(of: document.root) == .object
        else {
            writer.counts.malformed += 1
            return Array("{}".utf8)
        }
        return writer.bytes(of: document, by: table)
    }
}
