import Bytes
import JSONText

/// Writes values of a property list as JSON for programs to read, one value after another in memory that is used again.
///
/// ```swift
/// let document = try PropertyListDocument(bytes)
/// var json = PropertyListJSON(document, keyOrder: .file, foreignValues: .refused)
/// try json.write(document.root)
/// let text = String(decoding: json.text, as: UTF8.self)
/// ```
///
/// What is shared in the file is written out each time, so there are limits to the bytes of a value, and to the bytes and
/// the number of all values that are written of a file.
///
/// ``PropertyListPrinter`` writes for people and walks in a way of its own: through the objects of archives, with references
/// for what cannot be written again, and stopping between any two values, since its text may be longer than memory. Scalars
/// are written for both by the same code.
public struct PropertyListJSON: Sendable {
    /// In which order the members of dictionaries are written.
    public enum KeyOrder: Sendable {
        /// As they stand in the file.
        case file
        /// By the UTF-8 bytes of the keys. Of keys that are equal once U+FFFD stands for lone surrogates, the last one
        /// counts.
        case canonical
    }

    /// What becomes of dates, data, UIDs, and reals that are infinite or no number.
    public enum ForeignValues: Sendable {
        /// The value that has one is not written: `noForm`.
        case refused
        /// A date is text (RFC 3339 in UTC), data is text (base64), a UID its number. `null` stands for a date that
        /// cannot be written so, and for a real.
        case nearest
    }

    /// How much is written.
    public struct Limits: Sendable {
        /// The bytes at which no more is written of a value.
        public var value: Int
        /// The most bytes of all values of a file.
        public var file: Int
        /// The most values of a file, those inside of others too.
        public var count: Int

        /// Makes limits; what is not given has none.
        public init(value: Int = .max, file: Int = .max, count: Int = .max) {
            self.value = value
            self.file = file
            self.count = count
        }
    }

    /// Why a value is not written, and where that was seen.
    public struct WritingError: Error {
        /// The reasons.
        public enum Kind: Sendable {
            /// JSON has no form for something in it.
            case noForm
            /// It has more bytes than a value may have.
            case tooLarge
            /// All values together are more than those of a file may be.
            case outOfBudget
        }

        /// The reason.
        public let kind: Kind
        /// The value at which it was seen: the one that was asked for, or one inside of it.
        public let node: PropertyListNode
    }

    private let document: PropertyListDocument
    private let keyOrder: KeyOrder
    private let foreignValues: ForeignValues
    /// The limits that are left: those of the file decrease with each value.
    private var limits: Limits
    /// The value that was written last.
    public private(set) var text: [UInt8] = []

    /// Prepares to write values of a document.
    public init(
        _ document: PropertyListDocument, keyOrder: KeyOrder, foreignValues: ForeignValues, limits: Limits = Limits()
    ) {
        self.document = document
        self.keyOrder = keyOrder
        self.foreignValues = foreignValues
        self.limits = limits
    }

    /// Writes a value, whose levels the document limits, in place of ``text``.
    /// - Throws: ``WritingError``; ``text`` is of no use then.
    public mutating func write(_ node: PropertyListNode) throws(WritingError) {
        text.removeAll(keepingCapacity: true)
        try append(node)
        limits.file -= text.count
        guard limits.file >= 0 else { throw WritingError(kind: .outOfBudget, node: node) }
    }

    private mutating func append(_ node: PropertyListNode) throws(WritingError) {
        guard text.count <= limits.value else { throw WritingError(kind: .tooLarge, node: node) }
        limits.count -= 1
        guard limits.count >= 0 else { throw WritingError(kind: .outOfBudget, node: node) }
        switch document.kind(of: node) {
        case .array: try appendArray(node)
        case .dictionary: try appendDictionary(node)
        case .null, .boolean, .integer, .real, .date, .data, .text, .uid:
            guard let foreign = text.append(jsonScalar: node, of: document) else { return }
            try append(foreign, at: node)
        }
    }

    private mutating func append(_ foreign: ForeignValue, at node: PropertyListNode) throws(WritingError) {
        guard case .nearest = foreignValues else { throw WritingError(kind: .noForm, node: node) }
        switch foreign {
        case .date(let seconds):
            if let date = PropertyListDate.text(secondsSince2001: seconds) {
                text.append(jsonString: date)
            } else {
                text += "null".utf8
            }
        case .data(let node):
            let document = document
            text.append(UInt8(ascii: "\""))
            text.append(base64: document.payload(of: node))
            text.append(UInt8(ascii: "\""))
        case .uid(let uid): text += "\(uid)".utf8
        case .real: text += "null".utf8
        }
    }

    private mutating func appendArray(_ node: PropertyListNode) throws(WritingError) {
        let elements = document.elements(of: node)
        text.append(UInt8(ascii: "["))
        for position in 0..<elements.count {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            try append(document.element(at: position, of: elements))
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func appendDictionary(_ node: PropertyListNode) throws(WritingError) {
        let members = document.members(of: node)
        // In the order of the file, no positions have to be listed.
        let order = keyOrder == .canonical ? document.canonicalOrder(of: members) : nil
        text.append(UInt8(ascii: "{"))
        for index in 0..<(order?.count ?? members.count) {
            let position = order?[index] ?? index
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text.append(jsonText: document.key(at: position, of: members), of: document)
            text.append(UInt8(ascii: ":"))
            try append(document.value(at: position, of: members))
        }
        text.append(UInt8(ascii: "}"))
    }
}
