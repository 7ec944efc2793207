/// A part of what a record says about its app, and what becomes of it when pseudonyms are made.
///
/// An app can put anything into these texts, so only those are kept that have the form of what they should be.
///
/// Source: "Pseudonyms".
public enum AppFact: Sendable {
    /// The bundle id or application id.
    case id
    /// The name in upload paths.
    case name
    /// The version, or the number of the build.
    case version
    /// The release channel.
    case channel

    /// The text that stands for something unknown in the documented formats.
    public static let unknown = "unknown"

    /// Returns the text to show for a value.
    ///
    /// - Parameter pseudonym: makes the pseudonym of a value of a class.
    /// - Returns: the value if it has the expected form. Otherwise a pseudonym for an id or a name, by which apps can be told
    ///   apart, and nil for a version or a channel.
    public func shown(_ value: String, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        if value == Self.unknown || form.matches(value.utf8.span) { return value }
        return switch self {
        case .id, .name: pseudonym(value, .app)
        case .version, .channel: nil
        }
    }

    private var form: KeptForm {
        switch self {
        case .id, .name: .name
        case .version: .version
        case .channel: .word
        }
    }
}

extension App {
    /// The same facts as far as they are shown with pseudonyms; nil if none is.
    func shown(_ pseudonym: (_ value: String, PseudonymClass) -> String) -> App? {
        func shown(_ value: String?, _ fact: AppFact) -> String? { value.flatMap { fact.shown($0, pseudonym) } }
        return App(
            id: shown(id, .id), name: shown(name, .name), version: shown(version, .version),
            channel: shown(channel, .channel), build: shown(build, .version))
    }
}
