import Bytes
import Files
import JSONText
import Telemetry

/// A search for stores in a root folder and all folders below it.
///
/// Several folders are searched at the same time.
struct StoreSearch {
    var problems: [LocatedProblem] = []
    var isIncomplete = false
    private(set) var backups: [OpenedBackup] = []
    /// The path prefixes of the opened backups, each of which is empty or ends with `/` or with the `!` of an archive.
    private var backupPrefixes: Set<CapturedText> = []
    var backupErrors: [any Error] = []
    private(set) var excludedStore: String?
    let label: String
    let path: String
    let spool: Spool
    let passwords: BackupPasswords
    private let backupDetector: BackupDetector
    private var archivePaths: [String] = []
    /// The paths of the backups that were found, but not opened yet.
    var foundBackupPaths: [String] = []
    /// The number of unreadable files and the first error in each backup, by the path prefix of the backup.
    var unreadableFilesByBackup: [CapturedText: (count: Int, first: String)] = [:]
    /// The stores in the order in which they were found.
    private var unsortedStores: [any Store] = []
    /// The stores of the capture, which are known at the end of the search.
    private(set) var stores: [FoundStore] = []
    private var usageDataFiles: [UsageDataFile] = []
    /// The switches for usage data, which are known at the end of the search.
    private(set) var usageData = UsageDataIndex()
    /// The skipped links and special files.
    ///
    /// A skipped entry can be in the place of a file or folder that contains records.
    private var skippedEntries = SkippedEntries()
    /// The number of files of each format that is not read, and the path of the first one, by the name of the format.
    private var unreadFiles: [CapturedText: (format: UnreadFormat, count: Int, path: String)] = [:]
    /// The containers and the queues of other SDKs that were found by their names.
    var inventoryFindings = InventoryFindings()
    /// The containers of the capture, which are known at the end of the search if the inventory is requested.
    private(set) var inventory: [InventoryEntry] = []
    let formats: [any StoreFormat]
    var owners: [CapturedText: ContainerOwner] = [:]

    /// The number of folders that one job searches.
    ///
    /// Searching fewer folders would cost less than starting the job.
    private static let foldersPerJob = 16

    /// Adds an opened backup.
    mutating func add(_ backup: OpenedBackup) {
        backups.append(backup)
        backupPrefixes.insert(CapturedText(backup.location.prefix))
    }

    /// Returns the path prefix of the innermost backup that contains `path`, or `nil` if there is none.
    func backupPrefix(of path: String) -> String? {
        guard !backupPrefixes.isEmpty else { return nil }
        let ends = path.utf8.indices.reversed().lazy.filter { path.utf8[$0].isOne(of: "/!") }
        let prefixes = ends.map { String(path[...$0]) }
        return prefixes.first { backupPrefixes.contains($0) } ?? (backupPrefixes.contains("") ? "" : nil)
    }

    let listsInventory: Bool

    init(
        label: String, path: String, spool: Spool, passwords: BackupPasswords, formats: [any StoreFormat],
        listsInventory: Bool
    ) {
        self.listsInventory = listsInventory
        self.passwords = passwords
        backupDetector = BackupDetector(spool: spool)
        self.formats = formats
        self.label = label
        self.path = path
        self.spool = spool
    }

    /// Searches the folders level by level, then the backups and archives in them.
    ///
    /// `rereader` reads the archive again if the capture is an archive. It is `nil` for a folder or a stream.
    ///
    /// - Returns: The tree, including the opened backups and archives.
    /// - Throws: `FileError` if the root cannot be read or the spool is full, ``BackupError`` if the capture itself is
    ///   an unreadable backup, or ``ArchiveError`` if an archive with a backup cannot be read again. Other errors become
    ///   problems.
    mutating func run(
        through tree: FileTree, named rootName: String, excluding excluded: Set<FileIdentity>,
        rereader: ArchiveRereader?, limit: JobLimit
    ) async throws -> FileTree {
        try await searchLevels(of: tree, from: "", named: rootName, excluding: excluded, limit: limit)
        var tree = tree
        try await searchBackups(in: &tree, archive: "", rereader, limit: limit)
        let found = archivePaths.map { NestedArchive($0, in: path, label: label) }
        for archive in found.sorted(by: { $0.prefix.utf8.lexicographicallyPrecedes($1.prefix.utf8) }) {
            let opened = try archive.open(in: tree, spool: spool, formats: formats)
            problems += opened.problems
            isIncomplete = isIncomplete || opened.isIncomplete
            guard let members = opened.tree else { continue }
            let part = tree.add(members, prefix: archive.prefix)
            let storeCount = unsortedStores.count
            try await searchLevels(of: part, from: archive.prefix, named: archive.rootName, limit: limit)
            try await searchBackups(in: &tree, archive: archive.prefix, opened.rereader, limit: limit)
            if unsortedStores.count == storeCount, archive.isCellebriteReport { add(archive.path, .cellebriteReport) }
        }
        var containers = ContainerFinder(owners: owners, tree: tree, rootName: rootName)
        stores = [FoundStore](unsortedStores) { containers.container(of: $0) }
        unsortedStores = []
        usageData = UsageDataIndex(
            usageDataFiles, in: stores, of: tree, formats, label: label, container: { containers.container(of: $0) })
        problems += usageData.problems
        if listsInventory { inventory = inventoryFindings.entries(stores, &containers) }
        return tree
    }

    /// Searches the folder at `root`, which is called `rootName`, and then the folders below it, level by level.
    ///
    /// - Throws: `FileError` if `root` is the capture and cannot be read. The errors of other folders become problems.
    mutating func searchLevels(
        of tree: FileTree, from root: String, named rootName: String, excluding excluded: Set<FileIdentity> = [],
        hasBackups: Bool = true, limit: JobLimit
    ) async throws {
        let backupDetector = hasBackups ? backupDetector : nil
        let search = { @Sendable [formats, listsInventory] (path: String, name: String) in
            FolderSearch(
                tree: tree, path: path, name: name, excluded: excluded, formats: formats,
                backupDetector: backupDetector, listsInventory: listsInventory
            ).run()
        }
        let first = search(root, rootName)
        if root.isEmpty, case .failure(let error) = first { throw error }
        var level = addFindings(first, of: root)
        while !level.isEmpty {
            var tasks = OrderedTasks<[Result<FolderSearch, FileError>]>(limit: limit)
            var unstarted = level[...]
            var unfinished = level[...]
            var nextLevel: [String] = []
            while !unfinished.isEmpty {
                while !tasks.isFull, !unstarted.isEmpty {
                    let paths = unstarted.prefix(Self.foldersPerJob)
                    unstarted = unstarted.dropFirst(Self.foldersPerJob)
                    // The name of a folder in the root of an archive does not include the prefix of the archive.
                    tasks.add { paths.map { search($0, Path.lastName(of: $0.droppingUTF8(root.utf8.count))) } }
                }
                let searchResults = try await tasks.next() ?? []
                for (path, result) in zip(unfinished, searchResults) { nextLevel += addFindings(result, of: path) }
                unfinished = unfinished.dropFirst(searchResults.count)
            }
            level = nextLevel
        }
    }

    /// Returns the facts of the backups, sorted by the UTF-8 bytes of their paths.
    func sortedBackupFacts() -> [BackupFacts] {
        guard !backups.isEmpty else { return [] }
        let containers = Dictionary(stores.map { ($0.container, $0.neighbors.stores) }) { first, _ in first }
        let names = StoreNames(formats: formats)
        return backups.map { $0.facts(beside: containers, names) }.sorted {
            $0.path.utf8.lexicographicallyPrecedes($1.path.utf8)
        }
    }

    /// Returns the problems, sorted by the UTF-8 bytes of their paths.
    func sortedProblems() -> [LocatedProblem] {
        var problems = problems
        for found in skippedEntries.reportedEntries {
            problems.append(LocatedProblem(capture: label, path: found.path, problem: problem(of: found)))
        }
        // The order does not matter, because the problems are sorted by their paths, which differ.
        for (format, count, path) in unreadFiles.values {
            let more = count > 1 ? " (and \((count - 1).counted("more file")) of this kind)" : ""
            let words = "not read: \(format.name)\(more); \(format.remedy)"
            let problem = Problem("unreadable", words, isLoss: format.isLoss)
            problems.append(LocatedProblem(capture: label, path: path, problem: problem))
        }
        problems.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        guard skippedEntries.unreportedCount > 0 else { return problems }
        let more = Problem(
            "link", "and \(skippedEntries.unreportedCount) more links that were not followed, or special files not read"
        )
        return problems + [LocatedProblem(capture: label, path: "", problem: more)]
    }

    /// Adds the findings of the search of the folder at `path`, and returns the folders to search next.
    mutating func addFindings(_ result: Result<FolderSearch, FileError>, of path: String) -> [String] {
        switch result {
        case .success(let search):
            unsortedStores += search.stores
            usageDataFiles += search.usageDataFiles
            inventoryFindings.add(search.inventory)
            excludedStore = search.excludedStore ?? excludedStore
            addOwners(of: search, at: path)
            if search.isBackup { foundBackupPaths.append(path) }
            skippedEntries.add(search.skippedEntries)
            problems += search.problems.map { LocatedProblem(capture: label, path: $0.path, problem: $0.problem) }
            for (file, error) in search.unreadableFiles { report(file, error) }
            for (file, format) in search.unreadFiles { add(file, format) }
            addArchives(of: search)
            return search.folders
        case .failure(let error):
            report(path, error)
            return []
        }
    }

    private mutating func addArchives(of search: FolderSearch) {
        for archive in search.archives {
            switch archive {
            case .inCapture(let path): archivePaths.append(path)
            case .inArchive(let path):
                report("nested", "archive in an archive in the capture, not read; unpack the outer one", at: path)
            case .ambiguous(let path):
                isIncomplete = true
                let text =
                    "not read: the name of a file or folder next to it looks like the path of its member; rename one"
                report("unreadable", text, at: path)
            }
        }
    }

    /// Counts a file of a format that is not read.
    private mutating func add(_ path: String, _ format: UnreadFormat) {
        let (_, count, first) = unreadFiles[format.name] ?? (format, 0, path)
        unreadFiles[format.name] = (
            format, count + 1, path.utf8.lexicographicallyPrecedes(first.utf8) ? path : first
        )
    }

    private mutating func addOwners(of search: FolderSearch, at path: String) {
        if let identifier = search.ownerIdentifier { owners[path] = ContainerOwner(identifier: identifier) }
        if let packed = search.packedContainer {
            owners[packed.path] = ContainerOwner(identifier: packed.identifier)
        }
    }

    private mutating func report(_ path: String, _ error: FileError) {
        isIncomplete = true
        if let prefix = backupPrefix(of: path), !StoreNames(formats: formats).hasStoreName(Array(path.utf8)) {
            unreadableFilesByBackup[prefix, default: (count: 0, first: "\(error), at \(path)")].count += 1
            return
        }
        report("unreadable", error.description, at: path)
    }

    mutating func report(_ code: String, _ text: String, at path: String) {
        problems.append(LocatedProblem(capture: label, path: path, problem: Problem(code, text)))
    }
}

extension String {
    /// Returns the string without its first `count` bytes of UTF-8.
    fileprivate func droppingUTF8(_ count: Int) -> String { String(decoding: utf8.dropFirst(count), as: UTF8.self) }
}
