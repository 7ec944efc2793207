import Files
import Parallel
import Telemetry

/// Looks through all folders below a root for stores, several at once.
struct StoreWalk {
    private var problems: [PlacedProblem] = []
    private(set) var isIncomplete = false
    /// The backups that were opened.
    private(set) var backups: [OpenedBackup] = []
    /// Why others were not.
    private(set) var backupErrors: [BackupError] = []
    /// The path of a file that was left out although its name is that of a store.
    private(set) var leftOutStore: String?
    private let label: String
    private let path: String
    private let spool: Spool
    private let passwords: BackupPasswords
    private let backupSigns: BackupSigns
    private var archives: [String] = []
    /// The paths of the backups that were found and not opened yet.
    private var foundBackups: [String] = []
    /// Of each backup by its prefix, what visits could not read in it, the first one in words.
    private var unreadInBackups: [String: (count: Int, first: String)] = [:]
    private var stores: [any Store] = []
    private let formats: [any StoreFormat]
    private var identifiers: [String: ContainerOwner] = [:]

    /// How many folders one job looks at: fewer would cost more to hand out than to read.
    private static let foldersPerJob = 16

    /// - Parameters:
    ///   - path: the path of the capture, as given.
    ///   - spool: takes what is wanted of archives in the capture.
    ///   - passwords: open the encrypted backups in it.
    init(
        label: String, path: String, spool: Spool, passwords: BackupPasswords, formats: [any StoreFormat]
    ) {
        self.passwords = passwords
        backupSigns = BackupSigns(spool: spool)
        self.formats = formats
        self.label = label
        self.path = path
        self.spool = spool
    }

    /// Walks the folders level by level, then those of backups and archives that lie in them.
    /// - Parameter rereading: reads the archive again that the capture is; nil if it is none, or comes once only.
    /// - Returns: the tree with the backups and archives that were opened.
    /// - Throws: `FileError` for the root; what cannot be read below it becomes a problem. ``ArchiveError`` for archives
    ///   that pass the limits. ``BackupError`` if the capture is a backup that cannot be read.
    mutating func run(
        through tree: FileTree, named rootName: String, leavingOut excluded: Set<FileIdentity>,
        rereading: ArchiveRereading? = nil, limit: JobLimit
    ) async throws -> FileTree {
        let first = FolderVisit(
            tree: tree, path: "", name: rootName, excluded: excluded, formats: formats, backupSigns: backupSigns
        ).run()
        if case .failure(let error) = first { throw error }
        try await descend(take(first, of: ""), tree, leavingOut: excluded, limit: limit)
        var tree = tree
        try await walkBackups(in: &tree, archive: "", rereading, limit: limit)
        let found = archives.map { NestedArchive($0, in: path, label: label) }
        for archive in found.sorted(by: { $0.prefix.utf8.lexicographicallyPrecedes($1.prefix.utf8) }) {
            let opened = try archive.open(in: tree, spool: spool, formats: formats)
            problems += opened.problems
            isIncomplete = isIncomplete || opened.isIncomplete
            guard let members = opened.tree else { continue }
            let part = tree.add(members, prefix: archive.prefix)
            let root = FolderVisit(
                tree: part, path: archive.prefix, name: archive.rootName, excluded: [], formats: formats,
                backupSigns: backupSigns
            ).run()
            try await descend(take(root, of: archive.prefix), part, leavingOut: [], limit: limit)
            try await walkBackups(in: &tree, archive: archive.prefix, opened.rereading, limit: limit)
        }
        return tree
    }

    /// - Parameter hasBackups: whether there may be backups in the folders.

    private mutating func descend(
        _ folders: [String], _ tree: FileTree, leavingOut excluded: Set<FileIdentity>, hasBackups: Bool = true,
        limit: JobLimit
    ) async throws {
        let backupSigns = hasBackups ? backupSigns : nil
        var level = folders
        while !level.isEmpty {
            var tasks = OrderedTasks<[Result<FolderVisit, FileError>]>(limit: limit)
            var waiting = level[...]
            var visited = level[...]
            var next: [String] = []
            while !visited.isEmpty {
                while tasks.count < 2 * limit.jobs + 1, !waiting.isEmpty {
                    let paths = waiting.prefix(Self.foldersPerJob)
                    waiting = waiting.dropFirst(Self.foldersPerJob)
                    tasks.add { [formats] in
                        paths.map { path in
                            FolderVisit(
                                tree: tree, path: path, name: CapturedFolder.lastPart(of: path), excluded: excluded,
                                formats: formats, backupSigns: backupSigns
                            ).run()
                        }
                    }
                }
                let visits = try await tasks.next() ?? []
                for (path, visit) in zip(visited, visits) { next += take(visit, of: path) }
                visited = visited.dropFirst(visits.count)
            }
            level = next
        }
    }

    /// The stores with their containers, by the bytes of their paths.
    func sortedStores(of tree: FileTree, rootName: String) -> [FoundStore] {
        var containers = ContainerFinder(identifiers: identifiers, tree: tree, rootName: rootName)
        var found = stores.map { store in FoundStore(store: store, container: containers.container(of: store.path)) }
        found.sort { left, right in
            // One file can be a store of two systems.
            left.path == right.path
                ? left.store.kind.description < right.store.kind.description
                : left.path.utf8.lexicographicallyPrecedes(right.path.utf8)
        }
        return found
    }

    /// The problems by the bytes of their paths, for folders list their entries in no order.
    func sortedProblems() -> [PlacedProblem] {
        problems.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Adds what a visit found.
    /// - Returns: the folders below.
    private mutating func take(_ result: Result<FolderVisit, FileError>, of path: String) -> [String] {
        switch result {
        case .success(let visit):
            stores += visit.stores
            leftOutStore = visit.leftOutStore ?? leftOutStore
            takeOwners(of: visit, at: path)
            if visit.isBackup { foundBackups.append(path) }
            problems += visit.notFiles.map { found in
                PlacedProblem(capture: label, path: found.path, problem: problem(of: found))
            }
            problems += visit.problems.map { PlacedProblem(capture: label, path: $0.path, problem: $0.problem) }
            for (file, error) in visit.unreadable { report(file, error) }
            takeArchives(of: visit)
            return visit.folders
        case .failure(let error):
            report(path, error)
            return []
        }
    }

    private mutating func takeArchives(of visit: FolderVisit) {
        for archive in visit.archives {
            switch archive {
            case .inCapture(let path): archives.append(path)
            case .inArchive(let path):
                problems.append(
                    PlacedProblem(
                        capture: label, path: path,
                        problem: Problem(
                            "nested", "archive in an archive in the capture, not read; unpack the outer one")
                    ))
            case .ambiguous(let path):
                isIncomplete = true
                problems.append(
                    PlacedProblem(
                        capture: label, path: path,
                        problem: Problem("unreadable", "not read: a neighbour is called like a member of it; rename it")
                    ))
            }
        }
    }

    private mutating func takeOwners(of visit: FolderVisit, at path: String) {
        if let identifier = visit.identifier { identifiers[path] = ContainerOwner(identifier: identifier) }
        if let identifier = visit.identifierOfAppData {
            let packed = path.isEmpty || path.hasSuffix("!") ? path : path + "/"
            identifiers[packed + ContainerFinder.packedName] = ContainerOwner(identifier: identifier)
        }
    }

    private mutating func report(_ path: String, _ error: FileError) {
        isIncomplete = true
        if let prefix = backupPrefix(of: path), !StoreNames(formats).isStoreByName(Array(path.utf8)) {
            let first = unreadInBackups[prefix]?.first ?? "\(error), at \(path)"
            unreadInBackups[prefix] = ((unreadInBackups[prefix]?.count ?? 0) + 1, first)
            return
        }
        problems.append(
            PlacedProblem(capture: label, path: path, problem: Problem("unreadable", error.description)))
    }
}

// MARK: - Backups

extension StoreWalk {
    /// Opens the backups that were found since the last call, and walks what is in them.
    /// - Parameters:
    ///   - archive: the prefix of the archive that they lie in; empty if they lie in none of the capture's.
    ///   - rereading: reads that archive again.
    /// - Throws: ``BackupError`` if the capture is a backup that cannot be read.
    private mutating func walkBackups(
        in tree: inout FileTree, archive: String, _ rereading: ArchiveRereading?, limit: JobLimit
    ) async throws {
        let paths = foundBackups.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        foundBackups = []
        guard !paths.isEmpty else { return }
        var manifests: [OpenedManifest] = []
        for path in paths {
            let place = BackupPlace(label: label, path: path, in: self.path)
            let opening = BackupOpening(place, spool: spool, passwords: passwords)
            do throws(BackupError) {
                manifests.append(try opening.open(folder(of: place, in: tree), names: StoreNames(formats)))
            } catch {
                try take(error, at: place)
            }
        }
        let members = try reread(manifests, archive, rereading)
        for manifest in manifests {
            do throws(BackupError) {
                let folder = try folder(of: manifest.place, in: tree, archive: archive, members)
                let backup = try manifest.finish(in: RootFolder(folder))
                backups.append(backup)
                problems += backup.problems
                isIncomplete = isIncomplete || backup.problems.contains { Intake.isLoss($0.problem) }
            } catch {
                try take(error, at: manifest.place)
                continue
            }
            if let backup = backups.last { try await walk(backup, in: &tree, limit: limit) }
        }
    }

    /// Spools the files that backups in an archive need.
    /// - Returns: nil if they are at hand.
    private mutating func reread(
        _ manifests: [OpenedManifest], _ archive: String, _ rereading: ArchiveRereading?
    ) throws(ArchiveError) -> SpooledTree? {
        guard let rereading, !manifests.isEmpty else { return nil }
        var paths: Set<[UInt8]> = []
        for manifest in manifests {
            let folder = manifest.place.prefix.utf8.dropFirst(archive.utf8.count)
            manifest.forEachFile { paths.insert(folder + Array($0.utf8)) }
        }
        let result = try rereading.members(at: paths)
        problems += result.problems
        isIncomplete = isIncomplete || !result.problems.isEmpty
        return result.tree
    }

    /// The folder of a backup, in the archive where that was read again.
    private func folder(
        of place: BackupPlace, in tree: FileTree, archive: String = "", _ members: SpooledTree? = nil
    ) throws(BackupError) -> Folder {
        do throws(FileError) {
            guard let members else { return try tree.folder(at: place.path) }
            let inside = String(place.path.utf8.dropFirst(archive.utf8.count)) ?? ""
            return try Folder(rootOf: members).folder(at: inside)
        } catch {
            throw BackupError(error)
        }
    }

    /// A backup that cannot be read ends the command if it is the capture; beside others it is told.
    private mutating func take(_ error: BackupError, at place: BackupPlace) throws(BackupError) {
        guard !place.path.isEmpty else { throw error }
        isIncomplete = true
        backupErrors.append(error)
        problems.append(
            PlacedProblem(capture: label, path: place.path, problem: Problem("unreadable", error.description)))
    }

    private mutating func walk(_ backup: OpenedBackup, in tree: inout FileTree, limit: JobLimit) async throws {
        let prefix = backup.place.prefix
        for (name, domain) in backup.domains { identifiers[prefix + name] = ContainerOwner(domain) }
        let part: FileTree
        if prefix.isEmpty {
            tree = FileTree(Folder(rootOf: backup.tree))
            part = tree
        } else {
            part = tree.add(backup.tree, prefix: prefix)
        }
        let root = FolderVisit(
            tree: part, path: prefix, name: CapturedFolder.lastPart(of: prefix), excluded: [], formats: formats
        ).run()
        try await descend(take(root, of: prefix), part, leavingOut: [], hasBackups: false, limit: limit)
        guard let unread = unreadInBackups[prefix] else { return }
        let more = unread.count > 1 ? " (and \(unread.count - 1) more files that only their contents tell)" : ""
        problems.append(
            PlacedProblem(
                capture: label, path: backup.place.path, problem: Problem("unreadable", unread.first + more)))
    }

    /// The prefix of the backup that a path leads into; nil if it leads into none.
    private func backupPrefix(of path: String) -> String? {
        backups.last { path.utf8.starts(with: $0.place.prefix.utf8) }?.place.prefix
    }

    /// What is told of a link or a special file.
    private func problem(of found: FolderLook.NotFile) -> Problem {
        let problem = found.problem
        return backupPrefix(of: found.path) == nil ? problem : Problem(problem.code, "B43 \(problem.text)")
    }
}
