import Console
import Files
import JSONText

/// Prints a JSON object that may be larger than memory, because arrays are printed while they are produced.
struct JSONObjectPrinter {
    /// A function that calls its argument with each element of an array.
    typealias Elements = ((CanonicalObject) throws -> Void) throws -> Void

    private var text: [UInt8] = [UInt8(ascii: "{")]
    private var isEmpty = true
    private var rewriter = PrintableJSON()

    private static let outputChunkSize = 64 << 10

    /// Prints the members of `object` and `arrays`, sorted by their keys.
    static func print(_ object: CanonicalObject, arrays: [(key: JSONKey, elements: Elements)]) throws {
        var output = JSONObjectPrinter()
        var rest = object
        let ordered = arrays.sorted { $0.key.description.utf8.lexicographicallyPrecedes($1.key.description.utf8) }
        for (key, elements) in ordered {
            let (before, after) = rest.split(at: key)
            try output.add(before)
            try output.add(key, elements)
            rest = after
        }
        try output.add(rest)
        output.text += "}\n".utf8
        try output.flush()
    }

    private mutating func add(_ object: CanonicalObject) throws {
        let members = object.bytes.dropFirst().dropLast()
        guard !members.isEmpty else { return }
        begin()
        text += members
        if text.count >= Self.outputChunkSize { try flush() }
    }

    private mutating func add(_ key: JSONKey, _ elements: Elements) throws {
        begin()
        text.append(jsonString: key.description)
        text += ":[".utf8
        var isFirst = true
        try elements { element in
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text += element.bytes
            if text.count >= Self.outputChunkSize { try flush() }
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func begin() {
        if !isEmpty { text.append(UInt8(ascii: ",")) }
        isEmpty = false
    }

    private mutating func flush() throws {
        var shown: [UInt8] = []
        shown.reserveCapacity(text.count)
        let piece = text
        rewriter.rewrite(piece.span, to: &shown)
        try StandardOutput.write(shown.span)
        text = []
    }
}
