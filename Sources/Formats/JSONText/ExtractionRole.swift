/// The way in which a ``JSONArrayStreamReader`` extracts or skips a value.
enum ExtractionRole: Sendable {
    /// The value is skipped.
    case skipped
    /// The whole value is extracted.
    case kept
    /// The value is an object. Only the given members are extracted.
    case outlined([(key: JSONKey, outline: JSONOutline)])
    /// The value is an object on the path to the array. The given number of path keys leads to the object.
    case onPath(Int)
    /// The value is the array whose elements are extracted.
    case elements

    enum Kind {
        case object, array, scalar
    }

    /// Creates the role of a value whose parts are selected by `outline`.
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

    /// Whether the brackets or braces around the value are extracted.
    var hasBrackets: Bool {
        switch self {
        case .kept, .outlined: true
        case .skipped, .onPath, .elements: false
        }
    }
}
