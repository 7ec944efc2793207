import Files

/// How the stores of a system are recognized, by layout first and by content where names can deceive.
public protocol StoreFormat: Sendable {
    /// Whether a file of an archive may belong to a store, or tell whose it is, by names alone: of a stream that comes once,
    /// front to back, there is no asking later. To say yes is never wrong, only slow.
    func mayBelongToStore(_ file: MemberName) -> Bool

    /// The store that a folder is as a whole; nil if it is none. Its files are then looked at by nobody else.
    func store(ofFolder folder: inout FolderLook) -> (any Store)?

    /// What a file in a folder is to the system, by its name and, where that can deceive, its contents.
    func stores(ofFile name: String, in folder: inout FolderLook) -> FileFinding

    /// The stores that a single file is, given without the folder that it lies in.
    /// - Parameters:
    ///   - name: its name.
    ///   - path: the path of its folder, as given, whose names may tell.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding

    /// The store that a single file is by its contents alone, whatever it is called; nil if it is none.
    func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)?

    /// What of the system no backup of a phone holds, whatever the app: a sentence without a full stop; nil if there is nothing
    /// of the kind.
    ///
    /// Source: "iOS backups", section 7.
    var absentFromAllBackups: String? { get }

    /// Whether an app keeps what the system would read where no backup of a phone looks, and nothing of it was found.
    ///
    /// Source: "iOS backups", section 7.
    /// - Parameters:
    ///   - applicationID: the bundle id of an app in a backup.
    ///   - stores: what was found in its container.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool

    /// Whether a link or a special file stands, by its name, in the place of a store or of a file of the store that the
    /// folder is.
    /// - Parameter store: the store that the folder is as a whole; nil if it is none.
    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool
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
