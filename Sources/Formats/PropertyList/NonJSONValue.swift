import JSONText

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
