import Files

/// The stores of a system: their properties, and the rules that recognize them.
///
/// Stores are recognized by name, or by contents if the name is ambiguous or unknown. By default, nothing is recognized.
///
/// Source: "iOS backups", section 7, for the stores that backups omit.
public protocol StoreFormat: Sendable {
    /// The kinds of stores that the format recognizes.
    var kinds: [StoreKind] { get }

    /// Returns whether a file in an archive, judged by its name, may belong to a store or identify its app.
    ///
    /// A skipped file cannot be read later, because archives are read once from front to back. A false positive only
    /// costs time.
    func mayBelongToStore(_ file: MemberName) -> Bool

    /// Returns whether `name` is the name of a store, or of a file that belongs to `store`.
    ///
    /// The method is called for entries that are not read, such as links and special files. `store` is the store that
    /// consists of the whole folder, or `nil` if there is none.
    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool

    /// The beginnings, in lowercase, of the names that only stores and their files have.
    ///
    /// They identify copies with an altered name, which are reported and not read. `store` is the store that consists of
    /// the whole folder, or `nil` if there is none.
    func namePrefixes(in store: (any Store)?) -> [String]

    /// Returns a store that consists of the whole folder, or `nil` if the folder is not a store.
    ///
    /// If a store is returned, the files of the folder are not searched for other stores.
    func store(ofFolder folder: inout InspectedFolder) -> (any Store)?

    /// Returns the stores of the system in the file called `name`.
    ///
    /// The contents are read only if the name is ambiguous.
    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding

    /// Returns the stores of the system in a file that was specified without its folder.
    ///
    /// `path` is the path of the folder as it was specified. It can help to identify the file. By default, the file is
    /// recognized as in a folder.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder) -> FileFinding

    /// Returns the store in a file, identified only by its contents, or `nil` if there is none.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)?

    /// The sentence, without a full stop, which reports that backups contain no stores of this format, or `nil` if
    /// backups contain them or if this is unknown.
    var absenceFromBackups: String? { get }

    /// Returns whether stores of this app in particular may be missing from a backup that contains `stores`.
    ///
    /// Returns `false` if ``absenceFromBackups`` reports the absence for all apps.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool

    /// The names of the classes whose instances identify a keyed archive as a store of the system with secrets.
    var secretClassNames: [String] { get }

    /// The keys of the secrets in these archives, such as the credentials of an SDK, whose values are always masked.
    ///
    /// A key is the name of a member of an instance, or a key of a dictionary.
    var secretKeys: [String] { get }

    /// The settings of apps for usage data.
    var usageDataSettings: [UsageDataSetting] { get }

    /// Returns the state of a setting in the contents of its property list, or `nil` if the contents are damaged.
    ///
    /// The property list is read even if it is not recognized as a store, because the absence of the key has a meaning.
    func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState?
}

extension StoreFormat {
    /// Returns `false`, because names do not identify stores.
    public func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { false }
    /// Returns an empty array, because names do not identify stores.
    public func namePrefixes(in store: (any Store)?) -> [String] { [] }
    /// Returns `nil`, because no folder as a whole is a store.
    public func store(ofFolder folder: inout InspectedFolder) -> (any Store)? { nil }
    /// Returns `.unrelated`, because no file in a folder is a store.
    public func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding { .unrelated }
    /// Recognizes the file as in a folder.
    public func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder)
        -> FileFinding
    { stores(ofFile: name, in: &folder) }
    /// Returns `nil`, because contents alone do not identify stores.
    public func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? { nil }
    /// No stores are known to be missing from all backups.
    public var absenceFromBackups: String? { nil }
    /// Returns `false`, because no stores of certain apps are known to be missing.
    public func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool { false }
    /// No archives with secrets are known.
    public var secretClassNames: [String] { [] }
    /// No secrets are known.
    public var secretKeys: [String] { [] }
    /// No settings are known.
    public var usageDataSettings: [UsageDataSetting] { [] }
    /// Returns `nil`, because there are no settings.
    public func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? { nil }
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
