import JSONText
import PropertyList

/// Writes values of a property list as JSON, the keys in the order of the file.
///
/// What is shared is written out each time, so the bytes of a value and of all values of a file are limited.
struct PropertyListJSON {
    /// Why a value is not written.
    enum Fault: Error {
        /// A date, data, a UID or a real that is no number: JSON has no form for it.
        case noForm
        /// It has more bytes than a value may have.
        case tooLarge
        /// All values together have more bytes than those of a file can need.
        case outOfBudget
    }

    private let document: PropertyListDocument
    private let sizeLimit: Int
    private var bytesLeft: Int
    private(set) var text: [UInt8] = []

    /// - Parameters:
    ///   - size: the bytes of the file.
    ///   - sizeLimit: the most bytes of a value.
    init(_ document: PropertyListDocument, size: Int, sizeLimit: Int) {
        self.document = document
        self.sizeLimit = sizeLimit
        bytesLeft = sizeLimit + 4 * size
    }

    /// Writes a value, whose levels the document limits, in place of ``text``.
    mutating func write(_ node: PropertyListNode) throws(Fault) {
        text.removeAll(keepingCapacity: true)
        try append(node)
        bytesLeft -= text.count
        guard bytesLeft >= 0 else { throw .outOfBudget }
    }

    private mutating func append(_ node: PropertyListNode) throws(Fault) {
        guard text.count <= sizeLimit else { throw .tooLarge }
        switch document.kind(of: node) {
        case .null: text += "null".utf8
        case .boolean: text += (document.boolean(of: node) ? "true" : "false").utf8
        case .integer: text += document.integer(of: node).description.utf8
        case .real:
            let real = document.real(of: node)
            guard real.isFinite else { throw .noForm }
            text.append(jsonNumber: real)
        case .text: text.append(jsonText: node, of: document)
        case .array: try appendArray(node)
        case .dictionary: try appendDictionary(node)
        case .date, .data, .uid: throw .noForm
        }
    }

    private mutating func appendArray(_ node: PropertyListNode) throws(Fault) {
        let elements = document.elements(of: node)
        text.append(UInt8(ascii: "["))
        for position in 0..<elements.count {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            try append(document.element(at: position, of: elements))
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func appendDictionary(_ node: PropertyListNode) throws(Fault) {
        let members = document.members(of: node)
        text.append(UInt8(ascii: "{"))
        for position in 0..<members.count {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            text.append(jsonText: document.key(at: position, of: members), of: document)
            text.append(UInt8(ascii: ":"))
            try append(document.value(at: position, of: members))
        }
        text.append(UInt8(ascii: "}"))
    }
}
