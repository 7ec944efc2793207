/// The account whose credential an upload needs.
public struct Account: Sendable, Hashable {
    /// The system of the account.
    public let system: SystemName
    /// The account id or app id, or an empty string if the store does not contain it.
    public let name: String
    /// The variant of the credential, such as `development`, or an empty string for the usual one.
    public let variant: String

    /// Creates an account of a system.
    public init(system: SystemName, name: String, variant: String = "") {
        self.system = system
        self.name = name
        self.variant = variant
    }

    /// Whether the account needs the credential for apps in development.
    public var isDevelopment: Bool { variant == Self.development }

    /// The variant of accounts whose records come from apps in development.
    public static let development = "development"

    /// A description of the account for reports, which is only the system if records do not name an account.
    public var label: String {
        "\(system)\(name.isEmpty ? "" : " \(name)")\(variant.isEmpty ? "" : " (\(variant))")"
    }
}
