import Bytes
import JSONText

/// A writer of property list values as JSON for programs to read.
///
/// ```swift
/// let document = try PropertyListDocument(bytes)
/// var json = PropertyListJSONWriter(document, keyOrder: .file, nonJSONValues: .refused)
/// try json.write(document.root)
/// let text = String(decoding: json.text, as: UTF8.self)
/// ```
///
/// Shared values are written in full each time they occur, so ``Limits`` restricts the output. Use
/// ``PropertyListPrinter`` for keyed archives, for output larger than memory, and for people to read.
public struct PropertyListJSONWriter: Sendable {
    /// The order in which the members of dictionaries are written.
    public enum KeyOrder: Sendable {
        /// The order of the file.
        case file
        /// The order of the UTF-8 bytes of the keys.
        ///
        /// Keys that differ only in lone surrogates become equal, because U+FFFD replaces these surrogates. The last of
        /// the equal keys is kept.
        case canonical
    }

    /// The treatment of dates, data, UIDs, and reals that are infinite or not a number.
    public enum NonJSONValues: Sendable {
        /// A value that contains one of these values is rejected with ``WritingError/Kind/unrepresentable``.
        case refused
        /// Each of these values is replaced by a similar JSON value.
        ///
        /// A date becomes a string in the format of RFC 3339, data becomes a base64 string, and a UID becomes its
        /// number. A real that is infinite or not a number becomes `null`, and so does a date that RFC 3339 cannot
        /// represent.
        case nearest
    }

    /// The limits on the output.
    public struct Limits: Sendable {
        /// The maximum size of a value, in bytes.
        public var valueSize: Int
        /// The maximum total size of the values of a file, in bytes.
        public var fileSize: Int
        /// The maximum number of values of a file, including nested values.
        public var valueCount: Int

        /// Creates limits, which allow all output by default.
        public init(valueSize: Int = .max, fileSize: Int = .max, valueCount: Int = .max) {
            self.valueSize = valueSize
            self.fileSize = fileSize
            self.valueCount = valueCount
        }
    }

    /// An error that describes why a value cannot be written.
    public struct WritingError: Error {
        /// The kinds of errors.
        public enum Kind: Sendable {
            /// The value contains something that JSON cannot represent.
            case unrepresentable
            /// The value exceeds ``Limits/valueSize``.
            case tooLarge
            /// The values of the file together exceed ``Limits/fileSize`` or ``Limits/valueCount``.
            case outOfBudget
        }

        /// The kind of the error.
        public let kind: Kind
        /// The value that caused the error, which is the value passed to `write` or a value nested in it.
        public let node: PropertyListNode
    }

    private let document: PropertyListDocument
    private let keyOrder: KeyOrder
    private let nonJSONValues: NonJSONValues
    private let valueSizeLimit: Int
    /// The budget for all values of the file.
    private(set) var budget: WorkBudget
    /// The JSON of the value that was written last.
    public private(set) var text: [UInt8] = []

    /// Creates a writer for values of `document`.
    public init(
        _ document: PropertyListDocument, keyOrder: KeyOrder, nonJSONValues: NonJSONValues, limits: Limits = Limits()
    ) {
        self.document = document
        self.keyOrder = keyOrder
        self.nonJSONValues = nonJSONValues
        valueSizeLimit = limits.valueSize
        budget = WorkBudget(nodes: limits.valueCount, bytes: limits.fileSize)
    }

    /// Replaces ``text`` with the JSON of a value.
    ///
    /// - Throws: ``WritingError``. In this case, the contents of ``text`` are undefined.
    public mutating func write(_ node: PropertyListNode) throws(WritingError) {
        text.removeAll(keepingCapacity: true)
        // A value that is too large is charged, too, because many values can share one that is.
        defer { budget.charge(bytes: text.count) }
        try append(node)
        guard text.count <= budget.remainingByteCount else { throw WritingError(kind: .outOfBudget, node: node) }
    }

    private mutating func append(_ node: PropertyListNode) throws(WritingError) {
        guard text.count <= valueSizeLimit else { throw WritingError(kind: .tooLarge, node: node) }
        guard budget.charge(nodes: 1) else { throw WritingError(kind: .outOfBudget, node: node) }
        switch document.kind(of: node) {
        case .array: try appendArray(node)
        case .dictionary: try appendDictionary(node)
        case .null, .boolean, .integer, .real, .date, .data, .text, .uid:
            guard let foreign = text.append(jsonScalar: node, of: document) else { return }
            try append(foreign, at: node)
        }
    }

    private mutating func append(_ foreign: NonJSONValue, at node: PropertyListNode) throws(WritingError) {
        guard case .nearest = nonJSONValues else { throw WritingError(kind: .unrepresentable, node: node) }
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
        // The order of the file needs no list of positions.
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

/// A value of a property list that JSON cannot represent.
///
/// The caller decides how to write it.
enum NonJSONValue {
    /// A date, in seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data(PropertyListNode)
    /// A reference to an object of a keyed archive.
    case uid(UInt32)
    /// A real that is infinite or not a number.
    case real(Double)
}

extension [UInt8] {
    /// Appends a scalar as JSON.
    ///
    /// If JSON cannot represent the value, appends nothing and returns the value.
    mutating func append(jsonScalar node: PropertyListNode, of document: borrowing PropertyListDocument)
        -> NonJSONValue?
    {
        switch document.kind(of: node) {
        case .boolean: append(json: document.boolean(of: node))
        case .integer: self += document.integer(of: node).description.utf8
        case .text: append(jsonText: node, of: document)
        case .real: return append(jsonReal: document.real(of: node))
        case .date: return .date(document.real(of: node))
        case .data: return .data(node)
        case .uid: return .uid(document.uid(of: node))
        case .null, .array, .dictionary: self += "null".utf8
        }
        return nil
    }

    /// Appends a real.
    ///
    /// If `real` is infinite or not a number, appends nothing and returns the value.
    mutating func append(jsonReal real: Double) -> NonJSONValue? {
        guard real.isFinite else { return .real(real) }
        append(jsonNumber: real)
        return nil
    }

    mutating func append(json boolean: Bool) { self += (boolean ? "true" : "false").utf8 }
}
