import Bytes
import JSONText

/// The values that authenticate an account to a server, such as a key.
///
/// Printing a credential does not reveal the values.
public struct Credential: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let values: [CapturedText: String]
    /// The secret values, which must not be shown.
    public let secrets: [String]

    /// The credential for servers that accept records from anyone.
    public static let none = Credential([:], secrets: [])

    /// Creates a credential from named values.
    ///
    /// `secrets` contains the names of the secret values.
    public init(_ values: [CapturedText: String], secrets: [CapturedText]) {
        self.values = values
        self.secrets = secrets.compactMap { values[$0] }
    }

    /// Returns the value called `name`, or `nil` if there is none because the credential belongs to another system.
    public subscript(name: CapturedText) -> String? { values[name] }

    /// A description that contains only the number of values.
    public var description: String {
        values.isEmpty ? "no credential" : "a credential of \(values.count.counted("value"))"
    }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The values of accounts, by account name.
public typealias AccountValues = [CapturedText: [CapturedText: String]]

/// The format of a system's credentials in the credentials file and in environment variables.
///
/// An entry of the file is a string or an object of strings. Reading, validating and masking credentials are
/// implemented once for all systems.
public protocol CredentialFormat: Sendable {
    /// The help text about environment variables, with `<account id>` as a placeholder.
    var variablesHelp: String { get }
    /// The help text with an example of the file entry in JSON.
    var entryHelp: String { get }
    /// The format of each entry in the credentials file.
    var entry: CredentialEntry { get }
    /// Validates an entry of the credentials file, and returns its values with the omitted values added.
    ///
    /// Errors must not contain any of the values.
    func completed(
        _ values: [CapturedText: String], ofAccount account: String
    ) throws(CredentialEntryError) -> [CapturedText: String]
    /// Returns the names of the variables in `environment` that belong to this system, in the order in which errors are
    /// reported.
    ///
    /// Each of these variables must contain a key.
    func variables(in environment: [String: String]) -> [String]
    /// Adds the values of environment variables to the accounts from the credentials file.
    ///
    /// A value in the environment takes precedence over the value in the file.
    func merge(_ environment: [String: String], into accounts: inout AccountValues)
    /// Returns the credential of an account, or `nil` if none was given.
    func credential(of account: Account, among accounts: AccountValues) -> Credential?
    /// Returns a description of the variable or file entry that provides the credential of `account`.
    func settingHint(for account: Account) -> String
}

extension CredentialFormat {
    /// Returns the values unchanged, because each entry is complete.
    public func completed(
        _ values: [CapturedText: String], ofAccount account: String
    ) throws(CredentialEntryError) -> [CapturedText: String] { values }
}

/// The format of an entry in the credentials file.
public enum CredentialEntry: Sendable {
    /// A string that contains the value with the given name.
    case text(CapturedText)
    /// An object with the given keys, none of which is required.
    case object([CapturedText])
}

/// An error in an entry of the credentials file.
public struct CredentialEntryError: Error {
    /// The key with the error, or an empty string if the error concerns the whole entry.
    public let key: String
    /// The description of the error.
    public let words: String

    /// Creates an error in the value of `key`, or in the whole entry if `key` is empty.
    public init(_ key: String, _ words: String) {
        self.key = key
        self.words = words
    }
}

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
