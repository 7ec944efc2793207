/// A class of values with comparable pseudonyms, such as client ids.
///
/// Equal values of a class have equal pseudonyms, even in different systems. Pseudonyms of different classes cannot be
/// compared.
///
/// Source: "Pseudonyms".
public struct PseudonymClass: Hashable, Sendable {
    /// The name of the class.
    ///
    /// It is part of the hash input of each pseudonym.
    public let name: String

    /// Creates a class with a name of lowercase words joined by hyphens.
    public init(_ name: String) { self.name = name }

    /// The account of a customer of a telemetry system, such as an app publisher.
    public static let account = PseudonymClass("account")
    /// An id or name of an app that does not have the expected form.
    public static let app = PseudonymClass("app")
    /// The label of a capture.
    public static let capture = PseudonymClass("capture")
    /// The id of a client.
    public static let client = PseudonymClass("client")
    /// The id of a document.
    public static let document = PseudonymClass("document")
    /// The name of an undocumented event.
    public static let event = PseudonymClass("event")
    /// A path in a capture.
    public static let path = PseudonymClass("path")
    /// The id of a session.
    public static let session = PseudonymClass("session")
    /// A record type that does not have the form of an identifier.
    public static let type = PseudonymClass("type")
    /// The id of a user account.
    public static let user = PseudonymClass("user")
}
