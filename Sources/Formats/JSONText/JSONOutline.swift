/// The parts of a JSON value to extract: the whole value, or some members of an object.
///
/// ```swift
/// let outline: JSONOutline = ["time": .whole, "request": ["url": .whole]]
/// ```
public struct JSONOutline: Sendable, ExpressibleByDictionaryLiteral {
    /// The members to extract, or `nil` to extract the whole value.
    let members: [(key: JSONKey, outline: JSONOutline)]?

    /// The outline that extracts a whole value of any kind.
    public static let whole = JSONOutline(members: nil)

    private init(members: [(key: JSONKey, outline: JSONOutline)]?) {
        self.members = members
    }

    /// Creates an outline that extracts the named members of an object.
    ///
    /// A value that is not an object is extracted as null.
    public init(dictionaryLiteral members: (JSONKey, JSONOutline)...) {
        self.init(members: members.map { (key: $0.0, outline: $0.1) })
    }
}
