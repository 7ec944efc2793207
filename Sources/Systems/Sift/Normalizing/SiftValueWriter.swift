import JSONText
import PropertyList

/// A writer of the values of an archive as canonical JSON, without intermediate objects.
///
/// A value without a JSON form adds a note. It is omitted, together with the dictionary entry or array element that
/// contains it.
///
/// The depth of the recursion is limited by ``SiftEventBounds``.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.2.
struct SiftValueWriter {
    /// The keys of the archive, with their ranks.
    var keyTable = SiftKeyTable()
    /// The members of the dictionaries that are being written, from the outermost to the innermost.
    var members: [Member] = []
    /// The slots that order members by the ranks of their keys.
    var slots = SiftRankedSlots()
    /// The notes about the current event.
    var notes = SiftNotes()
    /// The position of the current event in its list.
    var eventPosition = 0
    /// The name of the current member of the event.
    var memberName = ""
    /// The limits on the nesting and the number of values of the current event.
    var bounds: SiftEventBounds
    /// The maximum size of the output, in bytes.
    var outputByteLimit = Int.max
    /// The total size, in bytes, of the keys that are too long for the key table.
    var longKeyByteCount = 0

    init(_ bounds: SiftEventBounds) { self.bounds = bounds }

    /// Begins an event, and removes the notes about the previous event.
    mutating func beginEvent(at position: Int, outputByteLimit: Int) {
        notes.removeAll()
        eventPosition = position
        self.outputByteLimit = outputByteLimit
        longKeyByteCount = 0
    }

    mutating func note(_ subject: SiftNotes.Subject, count: Int = 1) {
        let (event, memberName) = (eventPosition, memberName)
        notes.add(subject, count: count, at: "event \(event), \(memberName)")
    }

    /// Writes a value, or returns `false` if the value has no JSON form.
    ///
    /// `document` is passed through all calls, because reading it from the archive would retain it for each value.
    mutating func write(
        _ stored: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        if let plain = document.object(of: stored, among: archive.objects) {
            return try write(object: plain, of: &archive, document, to: &output)
        }
        guard let object = try archive.object(stored) else { return noteMissingForm() }
        return try write(object: object, of: &archive, document, to: &output)
    }

    /// Writes an object, or returns `false` if the object has no JSON form.
    mutating func write(
        object: PropertyListNode, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        // A shared string adds only a reference to the archive, but its whole length to the output.
        guard output.count <= outputByteLimit else { throw Self.outputLimitError(at: object, in: document) }
        // Most objects are scalars, which are written without determining a class.
        switch document.kind(of: object) {
        case .real: return write(document.real(of: object), to: &output)
        case .text: output.append(jsonText: object, of: document)
        case .integer: write(document.integer(of: object), to: &output)
        case .boolean: output.append(document.boolean(of: object) ? Self.true : Self.false)
        case .dictionary: return try writeInstance(object, of: &archive, document, to: &output)
        default: return noteMissingForm()
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
        case .none, .data, .date, .instance, .unrepresentable: return noteMissingForm()
        }
        return true
    }

    private mutating func noteMissingForm() -> Bool {
        note(.unknownClass)
        return false
    }

    private mutating func write(_ real: Double, to output: inout TextBuffer) -> Bool {
        guard real.isFinite else {
            note(.nonFiniteNumber)
            return false
        }
        output.append(jsonNumber: real)
        return true
    }

    private func write(_ integer: PropertyListInteger, to output: inout TextBuffer) {
        if integer.isNegative { output.append(UInt8(ascii: "-")) }
        output.append(decimal: integer.isNegative ? 0 &- integer.bits : integer.bits)
    }

    static func element(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) throws(PropertyListError) -> PropertyListNode {
        if let plain = document.reference(at: position, of: elements) { return plain }
        return try archive.element(at: position, of: elements)
    }

    /// Returns the object at a position, or `nil` if resolving it requires further checks.
    ///
    /// All objects of a dictionary are resolved before the first of them is written, because the processor can then
    /// fetch distant parts of the file in parallel.
    static func object(
        at position: Int, of elements: KeyedElements, in archive: borrowing KeyedArchive,
        _ document: PropertyListDocument
    ) -> PropertyListNode? {
        guard let reference = document.reference(at: position, of: elements) else { return nil }
        return document.object(of: reference, among: archive.objects)
    }

    static func outputLimitError(at node: PropertyListNode, in document: PropertyListDocument) -> PropertyListError {
        document.error(.budgetExceeded, at: node, "an event that expands to too many bytes")
    }

    private static let `true`: ConstantText = "true"
    private static let `false`: ConstantText = "false"
    private static let null: ConstantText = "null"

    private mutating func write(
        _ elements: KeyedElements, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        try bounds.enterCollection(ofCount: elements.count, in: &archive)
        defer { bounds.leaveCollection() }
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

/// The limits on the nesting and on the number of values of one event.
///
/// The check also rejects an event that contains itself. Checking an event takes as long as writing it, so only events
/// that are larger than usual are checked.
///
/// Source: "Keyed archives: container, object graph, hostile input", D.3.
struct SiftEventBounds {
    /// The maximum number of values in an event that is written without a check.
    private static let uncheckedValueLimit = 2000
    /// The maximum number of levels in an event that is written without a check.
    private static let uncheckedDepthLimit = 24
    /// The maximum number of values in an event.
    private static let valueLimit = 100_000
    /// The minimum number of values in an event: the event itself and its ten members.
    static let minimumValueCount = 11

    private let event: PropertyListNode
    private let outerDepth: Int
    private var depth = 0
    private var isChecked = false
    /// The number of values counted so far.
    private(set) var valueCount = minimumValueCount

    /// Creates the limits for an event whose list is at the nesting level `outerDepth` of the archive.
    init(_ event: PropertyListNode, outerDepth: Int) {
        self.event = event
        self.outerDepth = outerDepth
    }

    /// Counts a collection before its `count` elements are read, or throws an error if the event is too large.
    mutating func enterCollection(ofCount count: Int, in archive: inout KeyedArchive) throws(PropertyListError) {
        valueCount += count + 1
        depth += 1
        if valueCount > Self.uncheckedValueLimit || depth > Self.uncheckedDepthLimit, !isChecked {
            try checkEvent(in: &archive)
        }
    }

    mutating func leaveCollection() { depth -= 1 }

    private mutating func checkEvent(in archive: inout KeyedArchive) throws(PropertyListError) {
        let expansion = try archive.expansion(of: event)
        guard expansion.depth + outerDepth <= Expansion.allowedDepth else {
            throw archive.document.error(.tooDeep, at: event, "more than \(Expansion.allowedDepth) levels")
        }
        guard expansion.count <= Self.valueLimit else {
            throw archive.document.error(.budgetExceeded, at: event, "an event of more than \(Self.valueLimit) values")
        }
        isChecked = true
    }
}
