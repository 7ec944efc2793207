import Bytes
import JSONText
import Telemetry

/// The header fields of a captured request, stored as an object, an array of pairs, or an array of objects.
///
/// Header fields may contain credentials. Therefore, only fields that are requested by name are exposed.
struct CapturedHeaders {
    private let node: JSONNode?

    private enum Keys {
        static let name: JSONKey = "name"
        static let value: JSONKey = "value"
    }

    init(_ node: JSONNode?) {
        self.node = node
    }

    func first(_ name: String, in document: JSONDocument) -> JSONNode? {
        var found: JSONNode?
        forEach(in: document) { key, value in
            if found == nil, document.bytes(of: key).equalsIgnoringCase(name) { found = value }
        }
        return found
    }

    /// Returns the fields that `format` needs.
    ///
    /// A secret value, or a value that is not a string, is replaced by an empty string.
    func fields(neededBy format: RequestFormat, in document: JSONDocument) -> [HeaderField] {
        let names = format.headers + format.secretHeaders
        guard !names.isEmpty else { return [] }
        var fields: [HeaderField] = []
        forEach(in: document) { key, value in
            guard let name = names.first(where: { document.bytes(of: key).equalsIgnoringCase($0) }) else { return }
            let isReadable = !format.secretHeaders.contains(name) && value.map { document.kind(of: $0) } == .string
            fields.append(
                HeaderField(
                    document.string(of: key), value.flatMap { isReadable ? document.string(of: $0) : nil } ?? ""))
        }
        return fields
    }

    private func forEach(in document: JSONDocument, _ body: (_ name: JSONNode, _ value: JSONNode?) -> Void) {
        guard let node else { return }
        for place in 0..<document.memberCount(of: node) {
            let member = document.member(at: place, of: node)
            body(member.key, member.value)
        }
        var element = document.firstElement(of: node)
        while let current = element {
            let pair = document.kind(of: current) == .array ? document.elements(of: current) : []
            if let key = pair.first ?? document.value(of: Keys.name, in: current), document.kind(of: key) == .string {
                body(key, pair.count == 2 ? pair[1] : document.value(of: Keys.value, in: current))
            }
            element = document.element(after: current, of: node)
        }
    }
}
