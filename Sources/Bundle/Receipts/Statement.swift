import JSONText

/// An in-toto Statement v1 about files.
///
/// Source: in-toto Attestation Framework, "Statement layer specification", v1.
public struct Statement {
    /// The URL that identifies the type of the statement, in-toto Statement v1.
    static let type = "https://in-toto.io/Statement/v1"

    private let predicateType: String
    private let predicate: CanonicalObject
    private let arrays: [(key: JSONKey, elements: CanonicalObject.Elements)]
    private let subjects: [Receipt.File]

    /// Creates a statement.
    ///
    /// `arrays` contains array members of `predicate` that may be too large for memory. Their elements are produced
    /// while the statement is written.
    public init(
        predicateType: String, predicate: CanonicalObject,
        arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [], subjects: [Receipt.File]
    ) {
        self.predicateType = predicateType
        self.predicate = predicate
        self.arrays = arrays
        self.subjects = subjects
    }

    /// Whether the statement has a subject, which a valid statement requires.
    public var hasSubject: Bool { !subjects.isEmpty }

    /// Writes the statement as one line of canonical JSON, calling `output` with consecutive pieces.
    public func write(to output: (Span<UInt8>) throws -> Void) throws {
        var start = CanonicalObject()
        start.set("_type", string: Self.type)
        var end = CanonicalObject()
        end.set("predicateType", string: predicateType)
        end.set("subject", elements: subjects.map(\.subject.bytes))
        try output(Array(start.bytes.dropLast() + #","predicate":"#.utf8).span)
        try predicate.write(with: arrays, to: output)
        try output(Array(",".utf8 + end.bytes.dropFirst() + "\n".utf8).span)
    }
}

extension Receipt.File {
    /// The file as a resource descriptor of in-toto.
    fileprivate var subject: CanonicalObject {
        var digest = CanonicalObject()
        digest.set("sha256", string: sha256.hex)
        var object = CanonicalObject()
        object.set("digest", object: digest)
        object.set("name", string: name)
        return object
    }
}
