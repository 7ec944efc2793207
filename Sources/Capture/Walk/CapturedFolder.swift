import Bundle
import Bytes
import Files
import Telemetry

/// A capture that was searched for stores: a folder, a backup, an archive, or a single store file.
public final class CapturedFolder: Sendable {
    /// The kind of the input.
    public let kind: BundleInput.Kind
    /// The label by which records identify the capture.
    public let label: String
    /// The path of the capture, as specified by the caller, or the path of the folder that contains the single store
    /// file.
    public let path: String
    /// The stores, sorted by the UTF-8 bytes of their paths.
    public let stores: [FoundStore]
    /// The problems with entries of the capture, such as unreadable files.
    public let problems: [LocatedProblem]
    /// Whether something in the capture could not be read.
    public let isIncomplete: Bool
    /// The path of an excluded file with the name of a store, or `nil` if there is none.
    let excludedStore: String?
    /// The containers in the capture, also those without stores, sorted by the UTF-8 bytes of their paths.
    ///
    /// The array is empty unless the inventory was requested.
    public let inventory: [InventoryEntry]
    /// The number of rows of backup manifests that are not in the inventory because of a limit.
    public let omittedInventoryRowCount: Int
    /// The backups in the capture, sorted by their paths.
    public let backups: [BackupFacts]
    let backupErrors: [any Error]
    let tree: FileTree
    private let usageData: UsageDataIndex

    /// Searches a folder, or the target of a link to a folder.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - label: The label by which records identify the capture.
    ///   - systems: The systems whose stores are recognized.
    ///   - excluded: The files that must not be read, such as the output.
    ///   - spool: The spool for the wanted members of archives in the folder.
    ///   - passwords: The passwords of encrypted backups.
    ///   - listsInventory: Whether the inventory is made.
    ///   - limit: The limit on the number of jobs.
    /// - Throws: `FileError` if the folder itself cannot be read or the spool is full, or ``BackupError`` if the folder
    ///   is an unreadable backup.
    public convenience init(
        path: String, label: String, systems: SystemTable, excluding excluded: Set<FileIdentity> = [],
        spool: Spool = Spool(), passwords: BackupPasswords = BackupPasswords(), listsInventory: Bool = false,
        limit: JobLimit
    ) async throws {
        try await self.init(
            FileTree(try Folder(path: path)), path: path, label: label,
            rootName: PathLabels.name(ofPath: path), isArchive: false, problems: [],
            formats: CaptureFormats.all(systems), excluding: excluded,
            spool: spool, passwords: passwords, listsInventory: listsInventory, limit: limit)
    }

    /// Reads an archive and searches its members.
    ///
    /// - Throws: ``ArchiveError`` if nothing can be read or a limit is exceeded, ``BackupError`` if the root of the
    ///   archive is an unreadable backup, or `FileError` if the archive cannot be read or the spool is full.
    public convenience init(
        archive: ArchiveBytes, path: String, label: String, systems: SystemTable, spool: Spool,
        passwords: BackupPasswords = BackupPasswords(), listsInventory: Bool = false, limit: JobLimit
    ) async throws {
        let formats = CaptureFormats.all(systems)
        let location = ArchiveLocation(label: label, path: path)
        let spooler = ArchiveSpooler(location, spool: spool, formats: formats, jobLimit: limit)
        let members = try spooler.spoolMembers(archive)
        let rereader: ArchiveRereader? =
            if case .source(let source) = archive { ArchiveRereader(source: source, spooler: spooler) } else { nil }
        try await self.init(
            FileTree(Folder(rootOf: members.tree)), path: path, label: label, rootName: location.rootName,
            isArchive: true,
            problems: members.problems, formats: formats, excluding: [], spool: spool, passwords: passwords,
            rereader: rereader, listsInventory: listsInventory, limit: limit)
    }

    /// Searches a capture that consists of files with the given contents.
    convenience init(
        files: [(path: MemberPath, contents: [UInt8])], path: String, label: String, systems: SystemTable,
        limit: JobLimit
    ) async throws {
        var builder = SpooledTreeBuilder()
        for (number, file) in files.enumerated() { builder.addFile(file.path, .external(number)) }
        let tree = builder.finish(name: path, byteStorage: .provider { ByteSource(files[$0].contents) }).tree
        try await self.init(
            FileTree(Folder(rootOf: tree)), path: path, label: label, rootName: label, isArchive: false, problems: [],
            formats: CaptureFormats.all(systems), excluding: [], spool: Spool(), passwords: BackupPasswords(),
            listsInventory: false, limit: limit)
    }

    private init(
        _ tree: FileTree, path: String, label: String, rootName: String, isArchive: Bool, problems: [LocatedProblem],
        formats: [any StoreFormat], excluding excluded: Set<FileIdentity>, spool: Spool,
        passwords: BackupPasswords, rereader: ArchiveRereader? = nil, listsInventory: Bool, limit: JobLimit
    ) async throws {
        var storeSearch = StoreSearch(
            label: label, path: path, spool: spool, passwords: passwords, formats: formats,
            listsInventory: listsInventory)
        let tree = try await storeSearch.run(
            through: tree, named: rootName, excluding: excluded, rereader: rereader, limit: limit)
        self.label = label
        self.path = path
        stores = storeSearch.stores
        self.problems = problems + storeSearch.sortedProblems()
        isIncomplete = storeSearch.isIncomplete || problems.contains(where: \.problem.isLoss)
        excludedStore = storeSearch.excludedStore
        backups = storeSearch.sortedBackupFacts()
        inventory = storeSearch.inventory
        omittedInventoryRowCount = storeSearch.inventoryFindings.omittedRowCount
        backupErrors = storeSearch.backupErrors
        usageData = storeSearch.usageData
        kind = isArchive ? .archive : backups.contains { $0.path.isEmpty } ? .backup : .folder
        self.tree = tree
    }

    /// Opens a single store file as a capture without other files, or returns `nil` if the file is not a store.
    ///
    /// - Throws: `FileError` if the folder of the file cannot be opened.
    public init?(file path: String, label: String, systems: SystemTable) throws(FileError) {
        let folder = Path.folder(of: path)
        let tree = FileTree(try Folder(path: folder))
        let formats = CaptureFormats.all(systems)
        let search = FolderSearch(
            tree: tree, path: "", name: PathLabels.name(ofPath: folder), excluded: [], formats: formats)
        let container = Container(path: "", identifier: nil)
        let stores = [FoundStore](
            try search.stores(ofSingleFile: Path.name(of: path), inFolderAt: folder),
            findingContainers: { _ in container })
        guard !stores.isEmpty else { return nil }
        usageData = UsageDataIndex(
            [search.usageDataFile(named: Array(Path.name(of: path).utf8))].compactMap(\.self), in: stores, of: tree,
            formats, label: label, container: { _ in container })
        kind = .store
        self.label = label
        self.path = folder
        self.stores = stores
        problems = usageData.problems
        isIncomplete = false
        excludedStore = nil
        backups = []
        inventory = []
        omittedInventoryRowCount = 0
        backupErrors = []
        self.tree = tree
    }

    /// Creates a capture without stores, which was given together with others and is reported with `problem`.
    init(withoutStores problem: LocatedProblem, path: String, label: String) {
        kind = .folder
        self.label = label
        self.path = path
        stores = []
        problems = [problem]
        isIncomplete = true
        excludedStore = nil
        backups = []
        inventory = []
        omittedInventoryRowCount = 0
        backupErrors = []
        let empty = SpooledTreeBuilder().finish(name: path, byteStorage: .provider { _ in ByteSource([]) }).tree
        tree = FileTree(Folder(rootOf: empty))
        usageData = UsageDataIndex()
    }

    /// Returns whether a store may contain copies that are kept instead of copies that are not held.
    func mayDecide(_ storeIndex: Int) -> Bool {
        stores[storeIndex].store.kind.isRequestLog
            || usageDataSwitches(ofStore: storeIndex)?.switches.contains { $0.state == .off } ?? false
    }

    /// Returns the switches for usage data that can apply to the records of the store at `index`.
    ///
    /// Returns `nil` if there are none.
    func usageDataSwitches(ofStore index: Int) -> UsageDataSwitches? {
        usageData.switches(ofContainer: stores[index].containerNumber)
    }

    /// Returns the state of usage data for the store at `index`.
    ///
    /// `app` is the app that the records of the store name, or the owner of the container. Returns `nil` if no setting
    /// for usage data concerns the store.
    public func usageDataStatus(ofStore index: Int, app: App?) -> UsageDataStatus? {
        usageData.status(of: stores[index], app: app)
    }

    /// Returns the index of the store that has a companion file at `path`, or `nil` if there is no such store.
    ///
    /// A companion file is, for example, the write-ahead log of a database. The name of a companion file is the name of
    /// its store and a suffix.
    public func storeIndex(withCompanion path: String) -> Int? {
        let name = Path.name(of: path).utf8.count
        for length in 1..<max(name, 1) {
            let found = stores.indices(at: String(decoding: path.utf8.dropLast(length), as: UTF8.self))
            if let found = found.first(where: {
                self.stores[$0].store.companionPaths.contains { CapturedText($0) == path }
            }) {
                return found
            }
        }
        return nil
    }
}

/// The store formats that are recognized in a capture.
enum CaptureFormats {
    /// Returns the store formats of all systems, and the format of request logs.
    static func all(_ systems: SystemTable) -> [any StoreFormat] {
        systems.all.flatMap(\.stores) + [RequestLogFormat(systems: systems)]
    }
}
