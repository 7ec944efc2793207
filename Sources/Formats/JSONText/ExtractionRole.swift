/// The treatment of a value by a ``JSONArrayStreamReader``.
enum ExtractionRole: Sendable {
    /// The value is skipped.
    case skipped
    /// The whole value is extracted.
    case kept
    /// Some members of the value, which is an object, are extracted.
    case outlined([(key: JSONKey, outline: JSONOutline)])
    /// The value is an object on the path to the array, and the given number of keys were found.
    case onPath(Int)
    /// The value is the array whose elements are extracted.
    case elements

    /// The kinds of values that roles distinguish.
    enum Kind {
        case object, array, scalar
    }

    /// Creates the role that extracts the parts in an outline.
    init(_ outline: JSONOutline) {
        self = outline.members.map { .outlined($0) } ?? .kept
    }

    /// Returns whether a value of the given kind can have the role.
    func accepts(_ kind: Kind) -> Bool {
        switch self {
        case .skipped, .kept: true
        case .outlined, .onPath: kind == .object
        case .elements: kind == .array
        }
    }

    /// Whether all bytes of the value are extracted.
    var isKept: Bool {
        if case .kept = self { true } else { false }
    }

    /// Whether the brackets around the value are extracted.
    var hasBrackets: Bool {
        switch self {
        case .kept, .outlined: true
        case .skipped, .onPath, .elements: false
        }
    }
}
