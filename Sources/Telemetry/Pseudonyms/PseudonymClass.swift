/// The class of values that a pseudonym belongs to.
///
/// Equal values of one class have equal pseudonyms, even in records of different systems. Pseudonyms of different
/// classes cannot be compared.
///
/// Source: "Pseudonyms".
public struct PseudonymClass: Hashable, Sendable {
    /// The name of the class, which is part of the hash that each pseudonym is made of.
    public let name: String

    /// Creates a class with a name of lowercase words joined by hyphens.
    public init(_ name: String) { self.name = name }

    /// The account of a customer of a system, such as the publisher of an app.
    public static let account = PseudonymClass("account")
    /// The id or the name of an app, if it does not have the expected form.
    public static let app = PseudonymClass("app")
    /// The label of a capture.
    public static let capture = PseudonymClass("capture")
    /// The id of a client, in the record and in its payload.
    public static let client = PseudonymClass("client")
    /// The id of a document.
    public static let document = PseudonymClass("document")
    /// The name of an event that is not documented.
    public static let event = PseudonymClass("event")
    /// A path in a capture.
    public static let path = PseudonymClass("path")
    /// The id of a session.
    public static let session = PseudonymClass("session")
    /// The type of a record, if it is not an identifier.
    public static let type = PseudonymClass("type")
    /// The id of a user account.
    public static let user = PseudonymClass("user")
}
