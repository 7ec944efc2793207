import JSONText

/// The values by which a server knows an account, such as a key. Printing a credential shows none of them.
public struct Credential: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The values by what the system calls them.
    private let values: [String: String]
    /// The values that must not be shown.
    public let secrets: [String]

    /// The server takes anybody's records.
    public static let none = Credential([:], secrets: [])

    /// Keeps the values, and which of them are secret.
    /// - Parameters:
    ///   - values: by what the system calls them.
    ///   - secrets: the names of those that must not be shown.
    public init(_ values: [String: String], secrets: [String]) {
        self.values = values
        self.secrets = secrets.compactMap { values[$0] }
    }

    /// A value; nil if the credential is that of another system.
    public subscript(name: String) -> String? { values[name] }

    /// Only how many values there are.
    public var description: String { values.isEmpty ? "no credential" : "a credential of \(values.count) values" }

    /// Shows nothing, so that no dump holds a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The credentials of a system as an operator gives them: in a file, by account, and in the environment.
///
/// An entry of the file is a text, or an object of texts. All of it is told by values, so that reading, checking and masking
/// are done in one place for all systems.
public struct CredentialFormat: Sendable {
    /// The form of an entry of the credentials file.
    public enum Entry: Sendable {
        /// One text, which is the value of this name.
        case text(String)
        /// An object with these keys, none of which is required by itself.
        case object([String])
    }

    /// The values of accounts, by the name of the account.
    public typealias Accounts = [String: [String: String]]

    /// The variables of the environment in words, for help: names, with `<account id>` where one stands in them.
    public let variablesHelp: String
    /// The entry of the system in the file as an example in JSON, for help.
    public let entryHelp: String
    /// The form of an entry of the file.
    public let entry: Entry
    /// Checks and completes an entry of the file; what is wrong with it in words, without any value, as an error.
    public let complete:
        @Sendable (_ values: [String: String], _ account: String) -> Result<[String: String], EntryError>
    /// The names of those variables of an environment that this system uses: each has to hold a key, and is a fault if it
    /// does not. In the order in which faults are told.
    public let variables: @Sendable (_ environment: [String: String]) -> [String]
    /// Puts the variables that are set into the accounts of the file; the environment has the last word.
    public let merge: @Sendable (_ environment: [String: String], _ accounts: inout Accounts) -> Void
    /// Returns the account whose credential a record needs, or `nil` if the record names none. The document is reused as
    /// memory.
    public let account: @Sendable (borrowing Record, inout JSONDocument) -> Account?
    /// The credential of an account; nil if none was given.
    public let credential: @Sendable (_ account: Account, _ accounts: Accounts) -> Credential?
    /// The variable or file entry to set so that an account has a credential, in words.
    public let nameToSet: @Sendable (_ account: Account) -> String

    /// A fault of an entry: the key that it is about, and words.
    public struct EntryError: Error {
        /// The key; empty for the entry as a whole.
        public let key: String
        /// What is wrong.
        public let words: String

        /// Says what is wrong with a key of an entry.
        public init(_ key: String, _ words: String) {
            self.key = key
            self.words = words
        }
    }

    /// Describes the credentials of a system.
    public init(
        variablesHelp: String, entryHelp: String, entry: Entry,
        complete: @escaping @Sendable ([String: String], String) -> Result<[String: String], EntryError>,
        variables: @escaping @Sendable ([String: String]) -> [String],
        merge: @escaping @Sendable ([String: String], inout Accounts) -> Void,
        account: @escaping @Sendable (borrowing Record, inout JSONDocument) -> Account?,
        credential: @escaping @Sendable (Account, Accounts) -> Credential?,
        nameToSet: @escaping @Sendable (Account) -> String
    ) {
        self.variablesHelp = variablesHelp
        self.entryHelp = entryHelp
        self.entry = entry
        self.complete = complete
        self.variables = variables
        self.merge = merge
        self.account = account
        self.credential = credential
        self.nameToSet = nameToSet
    }
}
