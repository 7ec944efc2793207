/// Which parts of a JSON value are wanted: all of it, or some members of an object.
///
/// ```swift
/// let outline: JSONOutline = ["time": .whole, "request": ["url": .whole]]
/// ```
public struct JSONOutline: Sendable, ExpressibleByDictionaryLiteral {
    /// The wanted members; nil for the whole value, of whatever kind it is.
    let members: [(key: JSONKey, outline: JSONOutline)]?

    /// All of a value.
    public static let whole = JSONOutline(members: nil)

    private init(members: [(key: JSONKey, outline: JSONOutline)]?) {
        self.members = members
    }

    /// The named members of an object. A value of another kind is not wanted: null takes its place.
    public init(dictionaryLiteral members: (JSONKey, JSONOutline)...) {
        self.init(members: members.map { (key: $0.0, outline: $0.1) })
    }
}
