import JSONText

/// The values that authenticate an account to a server, such as a key.
///
/// Printing a credential shows none of them.
public struct Credential: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let values: [String: String]
    /// The secret values, which must not be shown.
    public let secrets: [String]

    /// The credential for servers that accept records from anyone.
    public static let none = Credential([:], secrets: [])

    /// Creates a credential from values by name and the names of the secret ones.
    public init(_ values: [String: String], secrets: [String]) {
        self.values = values
        self.secrets = secrets.compactMap { values[$0] }
    }

    /// Returns a value by name, or `nil` for a credential of another system.
    public subscript(name: String) -> String? { values[name] }

    /// A description that contains only the number of values.
    public var description: String { values.isEmpty ? "no credential" : "a credential of \(values.count) values" }

    /// An empty mirror, so that `dump` does not print a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The format in which the operator gives the credentials of a system: in a file, by account, or in the environment.
///
/// An entry of the file is a string, or an object of strings. The format is described by values, so that reading,
/// validating and masking credentials are implemented once for all systems.
public struct CredentialFormat: Sendable {
    /// The form of an entry of the credentials file.
    public enum Entry: Sendable {
        /// A string, which is the value with the given name.
        case text(String)
        /// An object with the given keys, none of which is required.
        case object([String])
    }

    /// The values of accounts, by account name.
    public typealias Accounts = [String: [String: String]]

    /// The description of the environment variables for help, with `<account id>` in place of an account id.
    public let variablesHelp: String
    /// An example of the entry of the system in the file, in JSON, for help.
    public let entryHelp: String
    /// The form of an entry of the file.
    public let entry: Entry
    /// Validates and completes an entry of the file, without any value in the error.
    public let complete:
        @Sendable (_ values: [String: String], _ account: String) -> Result<[String: String], EntryError>
    /// Returns the names of the environment variables that the system uses, in the order in which faults are reported.
    ///
    /// Each of them must contain a key.
    public let variables: @Sendable (_ environment: [String: String]) -> [String]
    /// Adds the variables of the environment, which take precedence, to the accounts of the file.
    public let merge: @Sendable (_ environment: [String: String], _ accounts: inout Accounts) -> Void
    /// Returns the account whose credential a record needs, or `nil` if the record names none.
    public let account: @Sendable (borrowing Record, inout JSONDocument) -> Account?
    /// Returns the credential of an account, or `nil` if none was given.
    public let credential: @Sendable (_ account: Account, _ accounts: Accounts) -> Credential?
    /// Returns a description of the variable or file entry to set so that an account has a credential.
    public let settingHint: @Sendable (_ account: Account) -> String

    /// An error in an entry of the file.
    public struct EntryError: Error {
        /// The key with the error, or an empty string if the error concerns the whole entry.
        public let key: String
        /// The description of the error.
        public let words: String

        /// Creates an error.
        public init(_ key: String, _ words: String) {
            self.key = key
            self.words = words
        }
    }

    /// Creates a format.
    public init(
        variablesHelp: String, entryHelp: String, entry: Entry,
        complete: @escaping @Sendable ([String: String], String) -> Result<[String: String], EntryError>,
        variables: @escaping @Sendable ([String: String]) -> [String],
        merge: @escaping @Sendable ([String: String], inout Accounts) -> Void,
        account: @escaping @Sendable (borrowing Record, inout JSONDocument) -> Account?,
        credential: @escaping @Sendable (Account, Accounts) -> Credential?,
        settingHint: @escaping @Sendable (Account) -> String
    ) {
        self.variablesHelp = variablesHelp
        self.entryHelp = entryHelp
        self.entry = entry
        self.complete = complete
        self.variables = variables
        self.merge = merge
        self.account = account
        self.credential = credential
        self.settingHint = settingHint
    }
}
