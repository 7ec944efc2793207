import Bytes
import Files
import JSONText
import Telemetry

/// Recognizes the data directories of the SDK by their contents, because apps choose their names.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 1 and 2.
enum GleanStores {
    static let format = StoreFormat(
        kinds: [.gleanPingFile, .gleanPendingEvents], mayBelongToStore: mayBelongToStore,
        isNamedForStore: isNamedForStore(_:in:), storeOfFolder: store(ofFolder:), storesOfFile: nil,
        storesOfSingleFile: stores(ofSingleFile:inFolderAt:_:), storeByContents: store(byContentsOf:in:),
        // Data directories are stored where backups look.
        backups: nil)

    /// The name that a data directory has unless the app gives another.
    private static let usualName = "glean_data"
    /// The folder of the databases.
    static let databases = "db"
    /// The file with the client id, since 66.1.
    static let clientFile = "client_id.txt"
    /// The databases of all generations, and the files that stand beside them.
    static let databaseFiles: Set = [
        "data.mdb", "lock.mdb", "data.safe.bin", "glean.sqlite", "glean.sqlite-wal", "glean.sqlite-shm",
    ]
    /// The database of the SDK since 51.0.
    static let safeDatabase = "data.safe.bin"
    /// The other database files by which a data directory is known.
    private static let tellingFiles: Set = ["data.mdb", "glean.sqlite"]
    /// The folders that no other SDK has.
    private static let tellingFolders = ["pending_pings", "deletion_request"]

    /// What lies in `events` and in `tmp` can be anybody's, so that outside the usual directory names have to tell: siblings
    /// may come later, or never.
    static func mayBelongToStore(_ file: MemberName) -> Bool {
        let isInUsual =
            file.folders.dropLast().last == Self.usualName || file.folders.count == 1 && file.rootName == Self.usualName
        switch file.folder {
        case "pending_pings", "deletion_request": return true
        case "tmp": return GleanName.digits(ofUUID: file.name.utf8.span) != nil
        case "events": return isInUsual || GleanName.isPing(file.name.utf8.span)
        case Self.databases: return Self.databaseFiles.contains(file.name)
        default: return file.name == Self.clientFile
        }
    }

    static func store(ofFolder folder: inout FolderLook) -> (any Store)? {
        if Self.tellingFolders.contains(folder.name), let contents = GleanDirectory.Contents(folder: folder.name),
            let files = DirectoryListing.folder(contents, at: folder.path, prefix: [], in: &folder)
        {
            return GleanDirectory(path: folder.path, folderPath: folder.path, base: folder.base, folders: [files])
        }
        guard Self.isDataDirectory(&folder) else { return nil }
        let folders = DirectoryListing.folders(in: &folder)
        return GleanDirectory(path: folder.path, folderPath: folder.path, base: folder.base, folders: folders)
    }

    private static func isDataDirectory(_ folder: inout FolderLook) -> Bool {
        if folder.name == usualName
            || folder.folders.contains(where: { name in tellingFolders.contains { name.elementsEqual($0.utf8) } })
        {
            return true
        }
        if folder.files.contains(named: clientFile) { return true }
        // A folder that cannot be listed is reported by the walk.
        guard folder.folders.contains(where: { $0.elementsEqual(databases.utf8) }),
            let inside = try? folder.tree.folder(at: folder.path(of: Array(databases.utf8))).entries()
        else { return false }
        let names = Set((0..<inside.count).map { String(decoding: inside.name($0), as: UTF8.self) })
        return !names.isDisjoint(with: tellingFiles) || names.contains(safeDatabase) && hasDatabaseOfSDK(&folder)
    }

    /// Whether the SDK can have written the database of a folder. One that cannot be read may be the SDK's.
    private static func hasDatabaseOfSDK(_ folder: inout FolderLook) -> Bool {
        guard
            let bytes = try? folder.contents(of: Array("\(databases)/\(safeDatabase)".utf8), limit: StoreLimits.file),
            let database = SafeDatabase(bytes)
        else { return true }
        return database.isOfSDK
    }

    /// A ping or an events file that is given alone, by the name of its folder.
    static func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        let folders = Path.parts(of: path)
        guard let last = folders.last, let contents = GleanDirectory.Contents(folder: last) else { return .stranger }
        let isInUsual = folders.dropLast().last == Self.usualName
        switch contents {
        case .pings(.pendingPings), .pings(.deletionRequests): break
        case .pings(.unfinished):
            guard isInUsual, GleanName.digits(ofUUID: name.utf8.span) != nil else { return .stranger }
        case .events: guard isInUsual, GleanName.isPing(name.utf8.span) else { return .stranger }
        }
        return .own([Self.single(contents, name, in: folder)])
    }

    /// A ping that lost its folder: its first line tells where it goes.
    static func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)? {
        // The file was opened before, so that it fails here for its size.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: GleanPingReader.sizeLimit.bytes),
            let lines = try? PingLines(bytes), GleanPath(bytes.span.extracting(lines.path)) != nil
        else { return nil }
        let path = String(decoding: bytes[lines.path], as: UTF8.self)
        let isRequest = path.contains("/\(GleanName.deletionRequest)/")
        return Self.single(.pings(isRequest ? .deletionRequests : .pendingPings), name, in: folder)
    }

    private static func single(
        _ contents: GleanDirectory.Contents, _ name: String, in folder: borrowing FolderLook
    ) -> GleanDirectory {
        let files = GleanDirectory.Folder(
            contents: contents, prefix: [], entries: folder.files.entries, files: [UInt32(folder.files.entry(0))],
            path: folder.path(of: Array(name.utf8)))
        return GleanDirectory(path: files.path, folderPath: folder.path, base: folder.base, folders: [files])
    }

    static func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        if name == Self.usualName || Self.tellingFolders.contains(name) { return true }
        guard store is GleanDirectory else { return false }
        return GleanDirectory.Contents(folder: name) != nil || name == Self.databases || name == Self.clientFile
    }
}
