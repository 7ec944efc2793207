/// What becomes of a value that a ``JSONSkimmer`` comes to.
enum SkimmedRole: Sendable {
    /// It is followed to its end and left out.
    case skipped
    /// All of it is taken out.
    case kept
    /// An object of which some members are taken out.
    case outlined([(key: JSONKey, outline: JSONOutline)])
    /// An object on the way to the array: so many keys are behind.
    case way(Int)
    /// The array whose elements are taken out.
    case elements

    /// The kinds of value as far as a role asks for one.
    enum Kind {
        case object, array, scalar
    }

    /// The role of what an outline asks for.
    init(_ outline: JSONOutline) {
        self = outline.members.map { .outlined($0) } ?? .kept
    }

    /// Whether a value of a kind can have the role.
    func fits(_ kind: Kind) -> Bool {
        switch self {
        case .skipped, .kept: true
        case .outlined, .way: kind == .object
        case .elements: kind == .array
        }
    }

    /// Whether all bytes of the value are taken out.
    var isKept: Bool {
        if case .kept = self { true } else { false }
    }

    /// Whether the brackets around the value are part of what is taken out.
    var hasBrackets: Bool {
        switch self {
        case .kept, .outlined: true
        case .skipped, .way, .elements: false
        }
    }
}
