import Bytes
import JSONText
import PropertyList

/// Reads the property lists that Mozilla's SDK wrote, as JSON.
enum PreferencesJSON {
    /// The entries whose keys have a prefix, without it, as a JSON object in canonical order.
    /// - Throws: `PropertyListError` if the bytes are no property list with a dictionary at its root.
    static func entries(of bytes: [UInt8], withPrefix prefix: String) throws(PropertyListError) -> [UInt8] {
        let document = try PropertyListDocument(bytes)
        guard document.kind(of: document.root) == .dictionary else {
            throw PropertyListError(
                .wrongRoot, at: document.offset(of: document.root), "the root of preferences is no dictionary")
        }
        var json = CanonicalPropertyList(document)
        let members = document.members(of: document.root)
        var object = CanonicalObject()
        for position in 0..<members.count {
            let key = document.string(of: document.key(at: position, of: members))
            guard key.hasPrefix(prefix) else { continue }
            object.set(
                JSONKey(String(key.dropFirst(prefix.count))),
                canonical: try json.bytes(of: document.value(at: position, of: members)))
        }
        return object.bytes
    }
}

/// Values of a property list as canonical JSON; dates as RFC 3339, data as base64.
private struct CanonicalPropertyList {
    private let document: PropertyListDocument
    /// How many values may still be written: what is shared in the file is not shared in JSON.
    private var allowance: Int

    init(_ document: PropertyListDocument) {
        self.document = document
        allowance = document.expansionLimit
    }

    /// The document was checked, so it is no deeper than allowed.
    mutating func bytes(of node: PropertyListNode) throws(PropertyListError) -> [UInt8] {
        allowance -= 1
        guard allowance >= 0 else {
            throw PropertyListError(
                .budgetExceeded, at: document.offset(of: node), "shared values that become too many when written out")
        }
        switch document.kind(of: node) {
        case .array: return try list(document.elements(of: node))
        case .dictionary: return try object(document.members(of: node))
        default: return scalar(node)
        }
    }

    private func scalar(_ node: PropertyListNode) -> [UInt8] {
        var json: [UInt8] = []
        switch document.kind(of: node) {
        case .boolean: json += "\(document.boolean(of: node))".utf8
        case .integer: json += "\(document.integer(of: node))".utf8
        case .uid: json += "\(document.uid(of: node))".utf8
        case .real: json.append(jsonNumber: document.real(of: node))
        case .text: json.append(jsonText: node, of: document)
        case .date:
            if let text = PropertyListDate.text(secondsSince2001: document.real(of: node)) {
                json.append(jsonString: text)
            } else {
                json += "null".utf8
            }
        case .data:
            json.append(UInt8(ascii: "\""))
            json.append(base64: document.payload(of: node))
            json.append(UInt8(ascii: "\""))
        case .null, .array, .dictionary: json += "null".utf8
        }
        return json
    }

    private mutating func list(_ elements: PropertyListElements) throws(PropertyListError) -> [UInt8] {
        var json = [UInt8(ascii: "[")]
        for position in 0..<elements.count {
            if position > 0 { json.append(UInt8(ascii: ",")) }
            json += try bytes(of: document.element(at: position, of: elements))
        }
        json.append(UInt8(ascii: "]"))
        return json
    }

    private mutating func object(_ members: PropertyListMembers) throws(PropertyListError) -> [UInt8] {
        var object = CanonicalObject()
        for position in 0..<members.count {
            object.set(
                JSONKey(document.string(of: document.key(at: position, of: members))),
                canonical: try bytes(of: document.value(at: position, of: members)))
        }
        return object.bytes
    }
}
