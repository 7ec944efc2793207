import JSONText
import PropertyList

/// Writes values of an archive as canonical JSON, straight from its bytes.
///
/// A value without a JSON form is left out, with the smallest entry or element that holds it, and noted. Recursion is bounded by
/// the depth that the bounds of an event allow.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.2.
struct SiftValueWriter {
    /// The keys of the archive, with their ranks.
    var keys = SiftKeyTable()
    /// The members of the dictionaries that are being written. The members of the innermost dictionary are last.
    var members: [Member] = []
    /// Orders members by the ranks of their keys.
    var slots = SiftRankedSlots()
    /// The notes on the event that is being written.
    var notes = SiftNotes()
    /// The place of the event in its list, and the name of the member that is being written.
    var event = 0
    var memberName = ""
    /// The most values that the event may expand to.
    var bounds: SiftEventBounds
    /// The most bytes that the output may have.
    var outputLimit = Int.max
    /// The number of bytes of long keys that were read. A key that occurs twice is written only once.
    var keyBytes = 0

    init(_ bounds: SiftEventBounds) {
        self.bounds = bounds
    }

    /// Begins another event: the notes on the one before are dropped.
    mutating func begin(event: Int, outputLimit: Int) {
        notes.removeAll()
        self.event = event
        self.outputLimit = outputLimit
        keyBytes = 0
    }

    mutating func note(_ subject: SiftNotes.Subject, count: Int = 1) {
        let (event, memberName) = (event, memberName)
        notes.add(subject, count: count, at: "event \(event), \(memberName)")
    }

    /// Writes a value.
    /// - Parameter document: the archive's. It is borrowed through all calls: else it would be retained for each value.
    /// - Returns: whether it has a JSON form; where it has none, nothing was written.
    /// - Throws: `PropertyListError` for what cannot be read at all.
    mutating func write(
        _ stored: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        if let plain = document.object(of: stored, among: archive.objects) {
            return try write(object: plain, of: &archive, document, to: &output)
        }
        guard let object = try archive.object(stored) else { return withoutForm() }
        return try write(object: object, of: &archive, document, to: &output)
    }

    /// Writes an object; most are scalars, which need no look at a class.
    mutating func write(
        object: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        // A text that is shared costs the archive a reference, the output all of its length.
        guard output.count <= outputLimit else { throw Self.expanded(at: object, in: document) }
        switch document.kind(of: object) {
        case .real: return write(document.real(of: object), to: &output)
        case .text: output.append(jsonText: object, of: document)
        case .integer: write(document.integer(of: object), to: &output)
        case .boolean: output.append(document.boolean(of: object) ? Self.true : Self.false)
        case .dictionary: return try writeInstance(object, of: &archive, document, to: &output)
        default: return withoutForm()
        }
        return true
    }

    private mutating func writeInstance(
        _ object: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        switch try archive.value(ofObject: object) {
        case .text(let node): output.append(jsonText: node, of: document)
        case .real(let value): return write(value, to: &output)
        case .integer(let value): write(value, to: &output)
        case .boolean(let value): output.append(value ? Self.true : Self.false)
        case .null: output.append(Self.null)
        case .array(let elements, _): try write(elements, of: &archive, document, to: &output)
        case .dictionary(let pairs): try write(pairs, of: &archive, document, to: &output)
        case .none, .data, .date, .instance, .unrepresentable: return withoutForm()
        }
        return true
    }

    private mutating func withoutForm() -> Bool {
        note(.unknownClass)
        return false
    }

    private mutating func write(_ real: Double, to output: inout TextBuffer) -> Bool {
        guard real.isFinite else {
            note(.notFinite)
            return false
        }
        output.append(jsonNumber: real)
        return true
    }

    private func write(_ integer: PropertyListInteger, to output: inout TextBuffer) {
        if integer.isNegative { output.append(UInt8(ascii: "-")) }
        output.append(decimal: integer.isNegative ? 0 &- integer.bits : integer.bits)
    }

    @inline(__always)
    static func element(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) throws(PropertyListError) -> PropertyListNode {
        if let plain = document.reference(at: position, of: elements) { return plain }
        return try archive.element(at: position, of: elements)
    }

    /// The object at a position, if it is plain. All of a dictionary are looked up before the first is written: the places
    /// that lead to one are far apart, and the processor fetches those of several at once if nothing is done in between.
    @inline(__always)
    static func object(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) -> PropertyListNode? {
        guard let reference = document.reference(at: position, of: elements) else { return nil }
        return document.object(of: reference, among: archive.objects)
    }

    static func expanded(at node: PropertyListNode, in document: PropertyListDocument) -> PropertyListError {
        PropertyListError(
            .budgetExceeded, at: document.offset(of: node), "an event that expands to too many bytes")
    }

    private static let `true`: TextPiece = "true"
    private static let `false`: TextPiece = "false"
    private static let null: TextPiece = "null"

    private mutating func write(
        _ elements: KeyedElements, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        try bounds.enter(elements.count, in: &archive)
        defer { bounds.leave() }
        output.append(UInt8(ascii: "["))
        let start = output.count
        for position in 0..<elements.count {
            let before = output.count
            if before > start { output.append(UInt8(ascii: ",")) }
            let element = try Self.element(at: position, of: elements, in: archive, document)
            if try !write(element, of: &archive, document, to: &output) { output.removeAll(from: before) }
        }
        output.append(UInt8(ascii: "]"))
    }
}
