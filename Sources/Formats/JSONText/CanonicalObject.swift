import Bytes

/// A value that can be stored in a ``CanonicalObject``.
public protocol CanonicalValue {
    /// Appends the value to `output` as canonical JSON.
    func appendJSON(to output: inout [UInt8])
}

/// A builder for a canonical JSON object, in which members are sorted by the UTF-8 bytes of their keys.
///
/// ```swift
/// let object: CanonicalObject = ["path": "a.har", "bytes": 12, "label": nil as String?, "parents": ["b", "c"]]
/// ```
public struct CanonicalObject: Sendable {
    /// The members in the order of their keys, each with the range of its value in `values`.
    private var members: [(key: [UInt8], value: Range<Int>)] = []
    /// The JSON of the values, in the order in which they were set.
    private var values: [UInt8] = []

    /// Creates an empty object.
    public init() {}

    /// Sets the member for `key`.
    public mutating func set(_ key: JSONKey, _ value: some CanonicalValue) {
        let start = values.count
        value.appendJSON(to: &values)
        let value = start..<values.count
        let index = insertionIndex(of: key)
        if index < members.count, members[index].key == key.utf8 {
            members[index].value = value
        } else {
            members.insert((key.utf8, value), at: index)
        }
    }

    /// Returns the index of the first member whose key does not sort before `key`.
    private func insertionIndex(of key: JSONKey) -> Int {
        members.indices.partitioningIndex {
            let present = members[$0].key
            return present.span.ordered(against: key.utf8.span) >= 0
        }
    }

    /// Returns an object with the members whose keys sort before `key`, and an object with all other members.
    public func split(at key: JSONKey) -> (before: CanonicalObject, after: CanonicalObject) {
        let end = insertionIndex(of: key)
        var (before, after) = (self, self)
        before.members.removeSubrange(end...)
        after.members.removeSubrange(..<end)
        return (before, after)
    }

    /// The object as canonical JSON.
    public var bytes: [UInt8] {
        var output: [UInt8] = []
        appendJSON(to: &output)
        return output
    }
}

extension CanonicalObject: CanonicalValue, ExpressibleByDictionaryLiteral {
    /// Creates an object from a literal.
    ///
    /// If a key is repeated, its last value applies.
    public init(dictionaryLiteral members: (JSONKey, any CanonicalValue)...) {
        for (key, value) in members { set(key, value) }
    }

    /// Appends the object.
    public func appendJSON(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (position, member) in members.enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: member.key.span)
            output.append(UInt8(ascii: ":"))
            output += values[member.value]
        }
        output.append(UInt8(ascii: "}"))
    }
}

/// A value that is already canonical JSON.
public struct CanonicalText: CanonicalValue {
    private let bytes: [UInt8]

    /// Creates a value of `bytes`.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Appends the bytes.
    public func appendJSON(to output: inout [UInt8]) { output += bytes }
}

extension String: CanonicalValue {
    /// Appends the string with the shortest escapes.
    public func appendJSON(to output: inout [UInt8]) { output.append(jsonString: self) }
}

extension Bool: CanonicalValue {
    /// Appends `true` or `false`.
    public func appendJSON(to output: inout [UInt8]) { output += (self ? "true" : "false").utf8 }
}

extension Int: CanonicalValue {
    /// Appends the number in decimal digits.
    public func appendJSON(to output: inout [UInt8]) { output += String(self).utf8 }
}

extension Int64: CanonicalValue {
    /// Appends the number in decimal digits.
    public func appendJSON(to output: inout [UInt8]) { output += String(self).utf8 }
}

extension Optional: CanonicalValue where Wrapped: CanonicalValue {
    /// Appends the wrapped value, or null.
    public func appendJSON(to output: inout [UInt8]) {
        if let self { self.appendJSON(to: &output) } else { output += "null".utf8 }
    }
}

extension Array: CanonicalValue where Element: CanonicalValue {
    /// Appends the elements as an array.
    public func appendJSON(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        for (position, value) in enumerated() {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            value.appendJSON(to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }
}

extension CanonicalObject {
    /// A function that produces an array by calling its argument with each element.
    public typealias Elements = ((CanonicalObject) throws -> Void) throws -> Void

    /// Writes the members of this object and `arrays` as one canonical JSON object.
    ///
    /// The output may be larger than memory, because arrays are written while they are produced. All members are sorted
    /// by their keys. `output` is called with consecutive pieces of the JSON.
    public func write(
        with arrays: [(key: JSONKey, elements: Elements)], to output: (Span<UInt8>) throws -> Void
    ) throws {
        var stream = CanonicalObjectStream()
        var rest = self
        let ordered = arrays.sorted { $0.key.description.utf8.lexicographicallyPrecedes($1.key.description.utf8) }
        for (key, elements) in ordered {
            let (before, after) = rest.split(at: key)
            try stream.add(before, output)
            try stream.add(key, elements, output)
            rest = after
        }
        try stream.add(rest, output)
        try stream.finish(output)
    }
}

/// A JSON object that is being written in pieces.
private struct CanonicalObjectStream {
    private var text: [UInt8] = [UInt8(ascii: "{")]
    private var isEmpty = true

    /// The minimum size, in bytes, of each piece except for the last.
    private static let pieceSize = 64 << 10

    mutating func add(_ object: CanonicalObject, _ output: (Span<UInt8>) throws -> Void) throws {
        let members = object.bytes.dropFirst().dropLast()
        guard !members.isEmpty else { return }
        beginMember()
        text += members
        try writePiece(output)
    }

    mutating func add(
        _ key: JSONKey, _ elements: @escaping CanonicalObject.Elements, _ output: (Span<UInt8>) throws -> Void
    ) throws {
        beginMember()
        text.append(jsonString: key.utf8.span)
        text += ":[".utf8
        var isFirst = true
        try elements { element in
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text += element.bytes
            try writePiece(output)
        }
        text.append(UInt8(ascii: "]"))
    }

    mutating func finish(_ output: (Span<UInt8>) throws -> Void) throws {
        text.append(UInt8(ascii: "}"))
        try output(text.span)
    }

    private mutating func beginMember() {
        if !isEmpty { text.append(UInt8(ascii: ",")) }
        isEmpty = false
    }

    private mutating func writePiece(_ output: (Span<UInt8>) throws -> Void) throws {
        guard text.count >= Self.pieceSize else { return }
        try output(text.span)
        text.removeAll(keepingCapacity: true)
    }
}
