import Files

/// Recognizes the stores of a system, first by layout, and by contents where names are ambiguous.
///
/// A step that a system does not need is `nil`.
public struct StoreFormat: Sendable {
    /// The kinds of the stores.
    public let kinds: [StoreKind]

    /// Returns whether a file in an archive may belong to a store or identify its app, judged by names alone.
    ///
    /// Archives are read once, from front to back, so that a skipped file cannot be read later. A false positive costs
    /// only time.
    public let mayBelongToStore: @Sendable (_ file: MemberName) -> Bool

    /// Returns whether the name of a link or a special file is that of a store, or that of a file of `store`. `store` is the
    /// store that the folder is as a whole, if there is one.
    public let isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?

    /// Returns the store that a folder is as a whole, or `nil`. The files of such a folder are not passed to other formats.
    public let storeOfFolder: (@Sendable (_ folder: inout FolderLook) -> (any Store)?)?

    /// Returns what a file in a folder is to the system, by its name and, if the name is ambiguous, by its contents.
    public let storesOfFile: (@Sendable (_ name: String, _ folder: inout FolderLook) -> FileFinding)?

    /// Returns what a single file is to the system, if the file is given without its folder. `path` is the path of the folder
    /// as given. Its names may identify the file.
    public let storesOfSingleFile:
        (@Sendable (_ name: String, _ path: String, _ folder: inout FolderLook) -> FileFinding)?

    /// Returns the store that a single file is by its contents alone, whatever its name is, or `nil`.
    public let storeByContents: (@Sendable (_ name: String, _ folder: inout FolderLook) -> (any Store)?)?

    /// The stores that backups of a phone do not contain.
    public let backups: BackupGap?

    /// Creates a format from its steps.
    public init(
        kinds: [StoreKind], mayBelongToStore: @escaping @Sendable (_ file: MemberName) -> Bool,
        isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?,
        storeOfFolder: (@Sendable (_ folder: inout FolderLook) -> (any Store)?)?,
        storesOfFile: (@Sendable (_ name: String, _ folder: inout FolderLook) -> FileFinding)?,
        storesOfSingleFile: (@Sendable (_ name: String, _ path: String, _ folder: inout FolderLook) -> FileFinding)?,
        storeByContents: (@Sendable (_ name: String, _ folder: inout FolderLook) -> (any Store)?)?,
        backups: BackupGap?
    ) {
        self.kinds = kinds
        self.mayBelongToStore = mayBelongToStore
        self.isNamedForStore = isNamedForStore
        self.storeOfFolder = storeOfFolder
        self.storesOfFile = storesOfFile
        self.storesOfSingleFile = storesOfSingleFile
        self.storeByContents = storeByContents
        self.backups = backups
    }
}

/// The stores of a system that backups of a phone do not contain.
///
/// Source: "iOS backups", section 7.
public enum BackupGap: Sendable {
    /// No backup contains the stores, whatever the app is. The sentence, without a full stop, states this in reports.
    case ofAllApps(String)
    /// Returns whether an app keeps its stores where no backup looks, and none was found.
    ///
    /// `applicationID` is the bundle id of an app in a backup, and `stores` are the stores in its container.
    case ofSomeApps(@Sendable (_ applicationID: String, _ stores: [any Store]) -> Bool)

    /// The sentence about the stores of all apps, or `nil` if the gap concerns some apps only.
    public var sentence: String? {
        switch self {
        case .ofAllApps(let sentence): sentence
        case .ofSomeApps: nil
        }
    }

    /// Returns whether the stores of an app are missing from a backup.
    public func concerns(_ applicationID: String, beside stores: [any Store]) -> Bool {
        switch self {
        case .ofAllApps: false
        case .ofSomeApps(let isMissing): isMissing(applicationID, stores)
        }
    }
}

/// What a file is to a system.
public enum FileFinding: Sendable {
    /// Nothing to this system.
    case stranger
    /// These stores and nothing else, so that no other system is asked. Empty if its name is the system's and its contents
    /// are not.
    case own([any Store])
    /// Stores of the system, and perhaps of others too, as preferences are.
    case shared([any Store])
}

/// The names that lead to a member of an archive.
public struct MemberName: Sendable {
    /// The name of the file.
    public let name: String
    /// The names of the folders that it lies in, the outermost first.
    public let folders: [String]
    /// The name of the folder that was packed, as far as the name of the archive tells it.
    public let rootName: String

    /// Names a member.
    public init(name: String, folders: [String], rootName: String) {
        self.name = name
        self.folders = folders
        self.rootName = rootName
    }

    /// The name of the folder that the file lies in.
    public var folder: String { folders.last ?? rootName }
}
