/// What kind of value a pseudonym stands for. Equal values of one class have equal pseudonyms, whatever system they are of;
/// pseudonyms of different classes cannot be compared.
///
/// Source: "Pseudonyms".
public struct PseudonymClass: Hashable, Sendable {
    /// The name, which takes part in each pseudonym of the class.
    public let name: String

    /// Declares a class: lower-case words joined by hyphens. A class that is renamed gives other pseudonyms.
    public init(_ name: String) {
        self.name = name
    }

    /// An account of a system's customer: the app's, not a person's.
    public static let account = PseudonymClass("account")
    /// The id or the name of an app, where it has not the form of one.
    public static let app = PseudonymClass("app")
    /// The label of a capture.
    public static let capture = PseudonymClass("capture")
    /// The id of a client, as it stands in `client` of a record and in its payload.
    public static let client = PseudonymClass("client")
    /// A document id.
    public static let document = PseudonymClass("document")
    /// The name of an event, where it is not documented.
    public static let event = PseudonymClass("event")
    /// A path in a capture.
    public static let path = PseudonymClass("path")
    /// The id of a session.
    public static let session = PseudonymClass("session")
    /// The type of a record, where it is no word.
    public static let type = PseudonymClass("type")
    /// The id of a person's account.
    public static let user = PseudonymClass("user")
}
