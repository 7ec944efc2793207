/// Whose credential an upload needs.
public struct Account: Sendable, Hashable {
    /// The system that knows the account.
    public let system: SystemName
    /// The account id or app id; empty where the store does not name it.
    public let name: String
    /// Which of the account's credentials is meant where it has several, such as `development`; empty for the usual one.
    public let variant: String

    /// Names an account of a system.
    public init(system: SystemName, name: String, variant: String = "") {
        self.system = system
        self.name = name
        self.variant = variant
    }

    /// Whether the credential for apps in development is meant.
    public var isDevelopment: Bool { variant == Self.development }

    /// The variant of accounts whose records come from apps in development.
    public static let development = "development"

    /// The account in words, for reports; the system alone where records do not name one.
    public var label: String {
        "\(system)\(name.isEmpty ? "" : " \(name)")\(variant.isEmpty ? "" : " (\(variant))")"
    }
}
