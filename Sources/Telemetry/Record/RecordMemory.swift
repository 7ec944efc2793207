import JSONText

/// Memory to read records with, one after another.
public struct RecordMemory: Sendable {
    var document = JSONDocument()
    var texts = RecordTexts()
    /// For canonical forms that a line is compared with.
    var text = TextBuffer()
    /// Where the parts of the line that was read last stand in its text.
    public internal(set) var written = WrittenRecord(notes: 0, payload: 0..<0)

    /// Makes memory that has read nothing.
    public init() {}

    /// Whether the payload of the line that was read stands there in canonical form.
    var isPayloadCanonical: Bool {
        mutating get {
            if document.isPlainlyCanonical { return true }
            guard let payload = document.value(of: Self.payload, in: document.root) else { return false }
            text.removeAll()
            document.write(payload, to: &text)
            return document.bytes(of: payload).equals(text.span)
        }
    }

    /// Where notes and payload stand in the document, which is a record in canonical form: the fifth member and the sixth.
    var places: WrittenRecord {
        let (notes, payload) = (document.member(at: 4, of: document.root), document.member(at: 5, of: document.root))
        return WrittenRecord(
            notes: document.sourceRange(of: notes.value)?.lowerBound ?? 0,
            payload: document.sourceRange(of: payload.value) ?? 0..<0)
    }

    private static let payload: JSONKey = "payload"
}

/// What the record that was read before has said. The next one mostly has the same app, client and capture: it shares those
/// texts then, and they are not made again.
struct RecordTexts: Sendable {
    var type = ""
    var client = ""
    var capture = ""
    var system: SystemName?
    var store: StoreKind?
    var app: App?
    /// The object that the app was read from.
    var appText: [UInt8] = []
}
