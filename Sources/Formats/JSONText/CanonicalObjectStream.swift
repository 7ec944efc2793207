import Bytes

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
