import Bytes

/// The account whose credential an upload needs.
public struct Account: Sendable, Hashable {
    /// The system of the account.
    public let system: SystemName
    /// The account id or app id, or an empty string if the store does not contain it.
    @CapturedText public private(set) var name: String
    /// The variant of the credential, such as `development`, or an empty string for the usual variant.
    @CapturedText public private(set) var variant: String

    /// Creates an account of a system.
    public init(system: SystemName, name: String, variant: String = "") {
        self.system = system
        self.name = name
        self.variant = variant
    }

    /// Whether uploads need the credential for apps in development.
    public var isDevelopment: Bool { variant == Self.development }

    /// The variant for apps in development.
    public static let development = "development"

    /// A description of the account for reports.
    ///
    /// The description begins with the name of the system. The account name and the variant follow unless they are
    /// empty.
    public var label: String {
        "\(system)\(name.isEmpty ? "" : " \(name)")\(variant.isEmpty ? "" : " (\(variant))")"
    }
}
