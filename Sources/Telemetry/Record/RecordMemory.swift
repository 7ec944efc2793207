import JSONText

/// Reusable memory for reading records one after another.
public struct RecordMemory: Sendable {
    var document = JSONDocument()
    var cache = RecordStringCache()
    /// A buffer for the canonical form of a record, with which its line is compared.
    var scratch = TextBuffer()
    /// The positions, in the input, of the notes and the payload of the last record whose canonical form was checked.
    public internal(set) var written = RecordLineLayout(notes: 0, payload: 0..<0)

    /// Creates empty memory.
    public init() {}

    /// Whether the payload of the last line is in canonical form.
    var isPayloadCanonical: Bool {
        mutating get {
            if document.isKnownCanonical { return true }
            guard let payload = document.value(of: RecordKeys.payload, in: document.root) else { return false }
            scratch.removeAll()
            document.write(payload, to: &scratch)
            return document.bytes(of: payload).equals(scratch.span)
        }
    }

    /// The positions of the notes and the payload, which are the fifth and sixth members of a canonical record.
    var positions: RecordLineLayout {
        let (notes, payload) = (document.member(at: 4, of: document.root), document.member(at: 5, of: document.root))
        return RecordLineLayout(
            notes: document.sourceRange(of: notes.value)?.lowerBound ?? 0,
            payload: document.sourceRange(of: payload.value) ?? 0..<0)
    }

}

/// A cache of the strings of the last record.
///
/// The next record reuses the cached strings that are equal to its own.
struct RecordStringCache: Sendable {
    var type = ""
    var client = ""
    var capture = ""
    var system: SystemName?
    var store: StoreKind?
    var app: App?
    /// The JSON text of the app in the last record.
    var appText: [UInt8] = []
}
