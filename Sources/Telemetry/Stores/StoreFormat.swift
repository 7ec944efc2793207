import Files

/// The functions that recognize the stores of a system, by layout first and by contents if names are ambiguous.
public struct StoreFormat: Sendable {
    /// The kinds of the stores.
    public let kinds: [StoreKind]

    /// Returns whether a file in an archive may belong to a store or identify its app, based only on names.
    ///
    /// Archives are read once, from front to back, so that a skipped file cannot be read later. A false positive costs
    /// only time.
    public let mayBelongToStore: @Sendable (_ file: MemberName) -> Bool

    /// Returns whether a link or special file has the name of a store, or of a file of `store`.
    ///
    /// `store` is the store that the folder as a whole is, if there is one.
    public let isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?

    /// Returns the store that a folder is as a whole, whose files are then not passed to other formats.
    public let storeOfFolder: (@Sendable (_ folder: inout InspectedFolder) -> (any Store)?)?

    /// Returns what a file in a folder is to the system.
    ///
    /// The contents are read only if the name is ambiguous.
    public let storesOfFile: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> FileFinding)?

    /// Returns what a file that is given without its folder is to the system.
    ///
    /// `path` is the path of its folder as given, which may help to identify the file.
    public let storesOfSingleFile:
        (@Sendable (_ name: String, _ path: String, _ folder: inout InspectedFolder) -> FileFinding)?

    /// Returns the store that a single file is, judged by its contents alone, or `nil`.
    public let storeByContents: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> (any Store)?)?

    /// The stores that device backups do not contain.
    public let backups: BackupGap?

    /// Creates a format from its functions.
    public init(
        kinds: [StoreKind], mayBelongToStore: @escaping @Sendable (_ file: MemberName) -> Bool,
        isNamedForStore: (@Sendable (_ name: String, _ store: (any Store)?) -> Bool)?,
        storeOfFolder: (@Sendable (_ folder: inout InspectedFolder) -> (any Store)?)?,
        storesOfFile: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> FileFinding)?,
        storesOfSingleFile: (
            @Sendable (_ name: String, _ path: String, _ folder: inout InspectedFolder) -> FileFinding
        )?,
        storeByContents: (@Sendable (_ name: String, _ folder: inout InspectedFolder) -> (any Store)?)?,
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

/// The stores of a system that device backups do not contain.
///
/// Source: "iOS backups", section 7.
public enum BackupGap: Sendable {
    /// No backup contains the stores of any app.
    ///
    /// The sentence, without a full stop, states this in reports.
    case ofAllApps(String)
    /// Backups do not contain the stores of some apps.
    ///
    /// The function returns whether an app keeps its stores outside of backups and none was found.
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

/// The significance of a file for a system.
public enum FileFinding: Sendable {
    /// The file does not belong to the system.
    case unrelated
    /// The file consists of these stores, or of none if only its name matches, and no other system is asked.
    case exclusive([any Store])
    /// The file contains these stores, and possibly stores of other systems, as preferences do.
    case shared([any Store])
}

/// The name of a file in an archive and the names of its folders.
public struct MemberName: Sendable {
    /// The name of the file.
    public let name: String
    /// The names of the enclosing folders, the outermost first.
    public let folders: [String]
    /// The name of the folder that was archived, if the name of the archive contains it.
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
