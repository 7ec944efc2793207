/// A header field of an HTTP request.
public struct HeaderField: Sendable, Equatable {
    /// The name of the header field.
    public let name: String
    /// The value of the header field.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns whether the field has the name `name`, regardless of the case of ASCII letters.
    public func isNamed(_ name: String) -> Bool { self.name.utf8.span.equalsIgnoringCase(name) }
}

extension [HeaderField] {
    /// Returns the values of the fields with the name `name`, regardless of the case of ASCII letters.
    public func values(of name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }
}
