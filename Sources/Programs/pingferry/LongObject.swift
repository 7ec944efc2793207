import Console
import Files
import JSONText

/// An object on standard output that may be larger than memory: its members are printed as they come, which has to be in the
/// order of their keys. What cannot be seen is escaped.
struct LongObject {
    private var text: [UInt8] = [UInt8(ascii: "{")]
    private var isEmpty = true
    private var rewriter = PrintableJSON()

    private static let pieceSize = 64 << 10

    mutating func set(_ key: JSONKey, string value: String?) throws {
        try set(key) { $0.set(key, string: value) }
    }

    mutating func set(_ key: JSONKey, integer value: Int) throws {
        try set(key) { $0.set(key, integer: value) }
    }

    mutating func set(_ key: JSONKey, object value: CanonicalObject) throws {
        try set(key) { $0.set(key, object: value) }
    }

    /// Adds all members of an object.
    mutating func add(_ object: CanonicalObject) throws {
        let members = object.bytes.dropFirst().dropLast()
        guard !members.isEmpty else { return }
        begin()
        text += members
        if text.count >= Self.pieceSize { try flush() }
    }

    /// Adds an array.
    /// - Parameter elements: gives the elements to the function that it is given.
    mutating func array(
        _ key: JSONKey, _ elements: ((CanonicalObject) throws -> Void) throws -> Void
    ) throws {
        begin()
        text.append(jsonString: key.description)
        text += ":[".utf8
        var isFirst = true
        try elements { element in
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            text += element.bytes
            if text.count >= Self.pieceSize { try flush() }
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Ends the object with a line feed.
    mutating func finish() throws {
        text += "}\n".utf8
        try flush()
    }

    private mutating func set(_ key: JSONKey, _ fill: (inout CanonicalObject) -> Void) throws {
        var object = CanonicalObject()
        fill(&object)
        try add(object)
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
