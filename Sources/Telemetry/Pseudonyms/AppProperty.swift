/// A property of an app, and the rule for replacing it by a pseudonym.
///
/// A value is kept only if it has the expected form, because apps can use any string.
///
/// Source: "Pseudonyms".
public enum AppProperty: Sendable {
    /// The bundle id or application id.
    case id
    /// The name of the app in the paths of uploads.
    case name
    /// The version or the build number.
    case version
    /// The release channel.
    case channel

    /// The string that represents an unknown value.
    public static let unknown = "unknown"

    /// Returns `value` if it has the expected form or is ``unknown``.
    ///
    /// Otherwise, the method returns a pseudonym for an id or a name, and `nil` for a version or a channel.
    public func shown(_ value: String, _ pseudonym: (_ value: String, PseudonymClass) -> String) -> String? {
        if value == Self.unknown || form.matches(value.utf8.span) { return value }
        return switch self {
        case .id, .name: pseudonym(value, .app)
        case .version, .channel: nil
        }
    }

    private var form: KeptForm {
        switch self {
        case .id: .model
        case .name: .name
        case .version: .version
        case .channel: .word
        }
    }
}

extension App {
    /// Returns the app with its properties replaced by pseudonyms.
    ///
    /// Returns `nil` if no property remains.
    func shown(_ pseudonym: (_ value: String, PseudonymClass) -> String) -> App? {
        func shown(_ value: String?, _ fact: AppProperty) -> String? { value.flatMap { fact.shown($0, pseudonym) } }
        return App(
            id: shown(id, .id), name: shown(name, .name), version: shown(version, .version),
            channel: shown(channel, .channel), build: shown(build, .version))
    }
}
