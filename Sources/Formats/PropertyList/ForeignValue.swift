import JSONText

/// A value of a property list that JSON has no form for. Who writes it says what stands in its place.
enum ForeignValue {
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    /// Bytes.
    case data(PropertyListNode)
    /// A reference of a keyed archive.
    case uid(UInt32)
    /// A real that is infinite or no number.
    case real(Double)
}

extension [UInt8] {
    /// Appends a value as JSON; of an array or a dictionary, whose values the caller goes through, `null`.
    /// - Returns: what JSON has no form for, of which nothing is appended; nil for all else.
    mutating func append(jsonScalar node: PropertyListNode, of document: borrowing PropertyListDocument)
        -> ForeignValue?
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
    /// - Returns: the real, if JSON has no form for it; else nil.
    mutating func append(jsonReal real: Double) -> ForeignValue? {
        guard real.isFinite else { return .real(real) }
        append(jsonNumber: real)
        return nil
    }

    /// Appends `true` or `false`.
    mutating func append(json boolean: Bool) { self += (boolean ? "true" : "false").utf8 }
}
