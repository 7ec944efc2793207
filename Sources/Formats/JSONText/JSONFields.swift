/// The members of an object, looked up by key and type: for small objects read once.
public struct JSONFields: Sendable {
    private let document: JSONDocument
    private let object: JSONNode

    /// Reads a text whose root is an object.
    public init(_ bytes: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        document = try JSONDocument(bytes, policy: policy)
        object = document.root
        guard document.kind(of: object) == .object else { throw JSONError(.unexpectedByte, at: 0) }
    }

    private init(document: JSONDocument, object: JSONNode) {
        self.document = document
        self.object = object
    }

    /// The string at a key.
    public func text(_ key: JSONKey) -> String? {
        value(key, .string).map { document.string(of: $0) }
    }

    /// The integer at a key, if it has no fraction and fits.
    public func integer(_ key: JSONKey) -> Int? {
        value(key, .number).flatMap { Int(document.string(of: $0)) }
    }

    /// The boolean at a key.
    public func boolean(_ key: JSONKey) -> Bool? {
        if value(key, .true) != nil { return true }
        return value(key, .false) == nil ? nil : false
    }

    /// The object at a key.
    public func object(_ key: JSONKey) -> JSONFields? {
        value(key, .object).map { JSONFields(document: document, object: $0) }
    }

    /// The objects in the array at a key; nil if it is none or holds anything else.
    public func objects(_ key: JSONKey) -> [JSONFields]? {
        elements(key, .object)?.map { JSONFields(document: document, object: $0) }
    }

    /// The strings in the array at a key; nil if it is none or holds anything else.
    public func texts(_ key: JSONKey) -> [String]? {
        elements(key, .string)?.map { document.string(of: $0) }
    }

    /// Returns the elements of the array at `key`. Returns `nil` if there is none, or if an element is of another kind.
    private func elements(_ key: JSONKey, _ kind: JSONKind) -> [JSONNode]? {
        guard let array = value(key, .array) else { return nil }
        let elements = document.elements(of: array)
        return elements.allSatisfy { document.kind(of: $0) == kind } ? elements : nil
    }

    /// The members whose values are integers.
    public var integers: [String: Int] {
        var found: [String: Int] = [:]
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            guard document.kind(of: member.value) == .number else { continue }
            found[document.string(of: member.key)] = Int(document.string(of: member.value))
        }
        return found
    }

    private func value(_ key: JSONKey, _ kind: JSONKind) -> JSONNode? {
        guard let value = document.value(of: key, in: object), document.kind(of: value) == kind else { return nil }
        return value
    }
}
