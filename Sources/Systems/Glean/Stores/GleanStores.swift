import Bytes
import Files
import JSONText
import Telemetry

/// The format of the SDK's data directories.
///
/// Data directories are recognized by their contents, because apps can choose their names.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 1 and 2.
struct GleanStores: StoreFormat {
    let kinds: [StoreKind] = [.gleanPingFile, .gleanPendingEvents]

    /// The default name of a data directory.
    private static let defaultDirectoryName = "glean_data"
    /// The name of the folder that contains the databases.
    static let databasesFolderName = "db"
    /// The name of the file that contains the client id since SDK version 66.1.
    static let clientIDFileName = "client_id.txt"
    /// The names of the database files of all SDK versions, and of the auxiliary files beside them.
    static let databaseFileNames: Set<CapturedText> = [
        "data.mdb", "lock.mdb", "data.safe.bin", "glean.sqlite", "glean.sqlite-wal", "glean.sqlite-shm",
    ]
    /// The name of the database file since SDK version 51.0.
    static let safeDatabaseName = "data.safe.bin"
    /// The names of the other database files that identify a data directory.
    private static let identifyingFileNames: Set<CapturedText> = ["data.mdb", "glean.sqlite"]
    /// The names of the folders that identify a data directory, because no other SDK uses them.
    private static let identifyingFolderNames = ["pending_pings", "deletion_request"]

    /// Returns whether an archive member may belong to a data directory.
    ///
    /// Folders named `events` or `tmp` can belong to any program, and the folders that identify a data directory may
    /// come later in the archive. Therefore, file names are checked.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        let isInDefaultDirectory =
            file.folders.dropLast().last == Self.defaultDirectoryName
            || file.folders.count == 1 && file.rootName == Self.defaultDirectoryName
        switch file.folder {
        case "pending_pings", "deletion_request": return true
        case "tmp": return GleanName.digits(ofUUID: file.name.utf8.span) != nil
        case "events": return isInDefaultDirectory || GleanName.isPingName(file.name.utf8.span)
        case Self.databasesFolderName: return Self.databaseFileNames.contains(file.name)
        default: return file.name == Self.clientIDFileName
        }
    }

    /// Returns a file with the line of an event, or `nil` for a line of a ping, whose first line contains its path.
    func file(ofPart bytes: [UInt8], _ reject: Reject, of kind: StoreKind) -> PartFile? {
        kind == .gleanPendingEvents ? PartFile(bytes) : nil
    }

    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        if Self.identifyingFolderNames.contains(folder.name),
            let contents = GleanDirectory.Contents(folder: folder.name),
            let files = DirectoryListing.folder(contents, at: folder.path, pathPrefix: [], in: &folder)
        {
            return GleanDirectory(path: folder.path, folderPath: folder.path, basePath: folder.base, folders: [files])
        }
        let hasPings = folder.folders.contains { name in
            Self.identifyingFolderNames.contains { name.elementsEqual($0.utf8) }
        }
        guard hasPings || Self.isDataDirectory(&folder) else { return nil }
        let folders = DirectoryListing.folders(in: &folder, hasPings: hasPings)
        return GleanDirectory(
            path: folder.path, folderPath: folder.path, basePath: folder.base, folders: folders, hasPings: hasPings)
    }

    /// Returns whether a folder without a folder of pings is a data directory.
    private static func isDataDirectory(_ folder: inout InspectedFolder) -> Bool {
        if folder.name == defaultDirectoryName || folder.files.contains(Array(clientIDFileName.utf8)) { return true }
        // The traversal of the capture reports folders that cannot be listed.
        guard folder.folders.contains(where: { $0.elementsEqual(databasesFolderName.utf8) }),
            let inside = try? folder.tree.folder(at: folder.path(of: Array(databasesFolderName.utf8))).entries()
        else { return false }
        let names = Set(texts: inside.map(\.text))
        return !names.isDisjoint(with: identifyingFileNames)
            || names.contains(safeDatabaseName) && hasDatabaseOfSDK(&folder)
    }

    /// Returns whether the database in `folder` may be from the SDK, which is assumed if it cannot be read or parsed.
    private static func hasDatabaseOfSDK(_ folder: inout InspectedFolder) -> Bool {
        guard
            let bytes = try? folder.contents(
                of: Array("\(databasesFolderName)/\(safeDatabaseName)".utf8), limit: InputLimits.storeFileSize),
            let database = SafeDatabase(bytes)
        else { return true }
        return database.mayBeFromSDK
    }

    /// Recognizes a single ping or event file by the name of its folder.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder)
        -> FileFinding
    {
        let folders = Path.parts(of: path)
        guard let last = folders.last, let contents = GleanDirectory.Contents(folder: last) else { return .unrelated }
        let isInDefaultDirectory = folders.dropLast().last == Self.defaultDirectoryName
        switch contents {
        case .pings(.pendingPings), .pings(.deletionRequests): break
        case .pings(.unfinishedPings):
            guard isInDefaultDirectory, GleanName.digits(ofUUID: name.utf8.span) != nil else { return .unrelated }
        case .events: guard isInDefaultDirectory, GleanName.isPingName(name.utf8.span) else { return .unrelated }
        }
        return .exclusive([Self.singleFileStore(contents, name, in: folder)])
    }

    /// Recognizes a ping file outside a data directory by the upload path in its first line.
    ///
    /// Returns `nil` if the file is not a ping file with a valid upload path.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        // The file was opened before, so the only possible error is that it is too large.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: GleanPingReader.sizeLimit.bytes),
            let lines = try? PingLines(bytes), GleanPath(bytes.span.extracting(lines.path)) != nil
        else { return nil }
        let path = String(decoding: bytes[lines.path], as: UTF8.self)
        let isRequest = path.contains("/\(GleanName.deletionRequest)/")
        return Self.singleFileStore(.pings(isRequest ? .deletionRequests : .pendingPings), name, in: folder)
    }

    private static func singleFileStore(
        _ contents: GleanDirectory.Contents, _ name: String, in folder: borrowing InspectedFolder
    ) -> GleanDirectory {
        let files = GleanDirectory.Folder(
            contents: contents, pathPrefix: [], fileNames: [Array(name.utf8)], path: folder.path(of: Array(name.utf8)))
        return GleanDirectory(path: files.path, folderPath: folder.path, basePath: folder.base, folders: [files])
    }

    func namePrefixes(in store: (any Store)?) -> [String] { [Self.defaultDirectoryName] + Self.identifyingFolderNames }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        if name == Self.defaultDirectoryName || Self.identifyingFolderNames.contains(name) { return true }
        guard store is GleanDirectory else { return false }
        return GleanDirectory.Contents(folder: name) != nil || name == Self.databasesFolderName
            || name == Self.clientIDFileName
    }
}
