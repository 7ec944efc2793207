import Files

/// The properties of the stores of a system, and the functions that recognize the stores.
///
/// Stores are recognized by name, or by contents if the name is ambiguous or unknown. A function is `nil` if the system
/// recognizes no stores in this way.
public struct StoreFormat: Sendable {
    /// The kinds of stores that the system has.
    public let kinds: [StoreKind]

    /// Returns whether a file in an archive, judged by its name, may belong to a store or identify its app.
    ///
    /// A skipped file cannot be read later, because archives are read once from front to back. A false positive only
    /// costs time.
    public let mayBelongToStore: @Sendable (_ file: MemberName) -> Bool

    /// Returns whether `name` is the name of a store, or of a file that belongs to `store`.
    ///
    /// The function is called for entries that are not read, such as links and special files. `store` is the store that
    /// consists of the whole folder, or `nil` if there is none.
    public let isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?

    /// Returns a store that consists of the whole folder, or `nil` if the folder is not a store.
    ///
    /// If a store is returned, the files of the folder are not searched for other stores.
    public let storeOfFolder: (@Sendable (_ folder: inout InspectedFolder) -> (any Store)?)?

    /// Returns the stores of the system in the file called `name`.
    ///
    /// The contents are read only if the name is ambiguous.
    public let storesOfFile: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> FileFinding)?

    /// Returns the stores of the system in a file that was specified without its folder.
    ///
    /// `path` is the path of the folder as it was specified. It can help to identify the file.
    public let storesOfSingleFile:
        (@Sendable (_ name: String, _ path: String, _ folder: inout InspectedFolder) -> FileFinding)?

    /// Returns the store in a file, identified only by its contents, or `nil` if there is none.
    public let storeByContents: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> (any Store)?)?

    /// The stores that device backups do not contain, or `nil` if no stores are known to be missing.
    public let backups: BackupGap?

    /// The secrets that the keyed archives of the system contain, or `nil` if none are known.
    public let secrets: StoredSecrets?

    /// The settings of apps for usage data, or `nil` if the system declares none.
    public let usageData: UsageDataFormat?

    /// Creates a format from its properties and functions.
    public init(
        kinds: [StoreKind], mayBelongToStore: @escaping @Sendable (_ file: MemberName) -> Bool,
        isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?,
        storeOfFolder: (@Sendable (_ folder: inout InspectedFolder) -> (any Store)?)?,
        storesOfFile: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> FileFinding)?,
        storesOfSingleFile: (
            @Sendable (_ name: String, _ path: String, _ folder: inout InspectedFolder) -> FileFinding
        )?,
        storeByContents: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> (any Store)?)?,
        backups: BackupGap?, secrets: StoredSecrets?, usageData: UsageDataFormat?
    ) {
        self.kinds = kinds
        self.mayBelongToStore = mayBelongToStore
        self.isNamedForStore = isNamedForStore
        self.storeOfFolder = storeOfFolder
        self.storesOfFile = storesOfFile
        self.storesOfSingleFile = storesOfSingleFile
        self.storeByContents = storeByContents
        self.backups = backups
        self.secrets = secrets
        self.usageData = usageData
    }
}

/// The stores of a system that device backups do not contain.
///
/// Source: "iOS backups", section 7.
public enum BackupGap: Sendable {
    /// Backups contain no stores of this system.
    ///
    /// The string is the sentence for reports, without a full stop.
    case ofAllApps(String)
    /// Backups do not contain the stores of some apps.
    ///
    /// The function returns whether stores of an app may be missing from a backup that contains `stores`.
    case ofSomeApps(@Sendable (_ applicationID: String, _ stores: [any Store]) -> Bool)

    /// The sentence for reports, or `nil` if backups omit the stores of only some apps.
    public var sentence: String? {
        switch self {
        case .ofAllApps(let sentence): sentence
        case .ofSomeApps: nil
        }
    }

    /// Returns whether stores of this app in particular may be missing from a backup that contains `stores`.
    ///
    /// Returns `false` for ``ofAllApps(_:)``, because reports state that gap in a general sentence.
    public func concerns(_ applicationID: String, beside stores: [any Store]) -> Bool {
        switch self {
        case .ofAllApps: false
        case .ofSomeApps(let isMissing): isMissing(applicationID, stores)
        }
    }
}

/// The stores of a system that a file contains.
public enum FileFinding: Sendable {
    /// The file does not belong to the system.
    case unrelated
    /// The file belongs only to this system. The list is empty if the name matches but the contents do not.
    case exclusive([any Store])
    /// The file contains the given stores, and possibly stores of other systems. An example is a preferences file.
    case shared([any Store])
}

/// The name of a file in an archive and the names of its folders.
public struct MemberName: Sendable {
    /// The name of the file.
    public let name: String
    /// The names of the enclosing folders, outermost first.
    public let folders: [String]
    /// The name of the archived folder, derived from the name of the archive.
    public let rootName: String

    /// Creates the name of a file in an archive.
    public init(name: String, folders: [String], rootName: String) {
        self.name = name
        self.folders = folders
        self.rootName = rootName
    }

    /// The name of the folder that contains the file.
    public var folder: String { folders.last ?? rootName }
}

/// The secrets in the keyed archives of a system, such as the credentials of an SDK.
///
/// A program that shows a keyed archive masks the values of these secrets.
public struct StoredSecrets: Sendable {
    /// The names of the classes whose instances identify a keyed archive as a store of the system.
    public let classNames: [String]
    /// The keys whose values are masked.
    ///
    /// A key is the name of a member of an instance, or a key of a dictionary.
    public let keys: [String]

    /// Creates a description of secrets.
    public init(classNames: [String], keys: [String]) {
        self.classNames = classNames
        self.keys = keys
    }
}
