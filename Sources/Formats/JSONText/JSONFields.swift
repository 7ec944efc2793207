import Bytes

/// The members of a small JSON object, which can be read by key and type.
public struct JSONFields: Sendable {
    private let document: JSONDocument
    private let object: JSONNode

    /// Creates fields by reading a JSON text whose root is an object.
    ///
    /// - Throws: ``JSONError`` if the text is malformed or its root is not an object.
    public init(_ bytes: [UInt8], policy: JSONReadingPolicy = .strict) throws(JSONError) {
        document = try JSONDocument(bytes, policy: policy)
        object = document.root
        guard document.kind(of: object) == .object else { throw JSONError(.unexpectedByte, at: 0) }
    }

    private init(document: JSONDocument, object: JSONNode) {
        self.document = document
        self.object = object
    }

    /// Returns the string for `key`, or `nil` if there is none.
    public func text(_ key: JSONKey) -> String? {
        value(key, .string).map { document.string(of: $0) }
    }

    /// Returns the integer for `key`, or `nil` if there is none or it does not fit in an `Int`.
    ///
    /// Use ``count(_:)`` for counts and sizes, which are added.
    public func integer(_ key: JSONKey) -> Int? {
        value(key, .number).flatMap { Int(document.string(of: $0)) }
    }

    /// Returns the number for `key`, or `nil` if there is none or it is not in ``CountRange``.
    public func count(_ key: JSONKey) -> Int? { value(key, .number).flatMap(count) }

    private func count(_ value: JSONNode) -> Int? {
        Int(document.string(of: value)).flatMap { CountRange.contains($0) ? $0 : nil }
    }

    /// Returns whether there is a member for `key`, of any type.
    public func hasMember(_ key: JSONKey) -> Bool { document.value(of: key, in: object) != nil }

    /// Returns the boolean for `key`, or `nil` if there is none.
    public func boolean(_ key: JSONKey) -> Bool? {
        if value(key, .true) != nil { return true }
        return value(key, .false) == nil ? nil : false
    }

    /// Returns the object for `key`, or `nil` if there is none.
    public func object(_ key: JSONKey) -> JSONFields? {
        value(key, .object).map { JSONFields(document: document, object: $0) }
    }

    /// Returns the objects in the array for `key`, or `nil` if there is no array or it contains other values.
    public func objects(_ key: JSONKey) -> [JSONFields]? {
        elements(key, .object)?.map { JSONFields(document: document, object: $0) }
    }

    /// Returns the strings in the array for `key`, or `nil` if there is no array or it contains other values.
    public func texts(_ key: JSONKey) -> [String]? {
        elements(key, .string)?.map { document.string(of: $0) }
    }

    /// Returns the elements of the array for `key`, or `nil` if there is no array or an element has a different kind.
    private func elements(_ key: JSONKey, _ kind: JSONKind) -> [JSONNode]? {
        guard let array = value(key, .array) else { return nil }
        let elements = document.elements(of: array)
        return elements.allSatisfy { document.kind(of: $0) == kind } ? elements : nil
    }

    /// Returns the objects in the array for `key` without its other elements, or an empty array if there is no array.
    public func objectsIgnoringOthers(_ key: JSONKey) -> [JSONFields] {
        guard let array = value(key, .array) else { return [] }
        return document.elements(of: array).filter { document.kind(of: $0) == .object }
            .map { JSONFields(document: document, object: $0) }
    }

    /// All members, or `nil` if a value is not a number in ``CountRange``.
    public var counts: [CapturedText: Int]? {
        var found: [CapturedText: Int] = [:]
        for member in document.members(of: object) {
            guard document.kind(of: member.value) == .number, let count = count(member.value) else { return nil }
            found[document.string(of: member.key)] = count
        }
        return found
    }

    private func value(_ key: JSONKey, _ kind: JSONKind) -> JSONNode? {
        guard let value = document.value(of: key, in: object), document.kind(of: value) == kind else { return nil }
        return value
    }
}
