import Files
import Parallel
import Telemetry

/// Looks through all folders below a root for stores, several at once.
struct StoreWalk {
    private var problems: [PlacedProblem] = []
    private(set) var isIncomplete = false
    /// The path of a file that was left out although its name is that of a store.
    private(set) var leftOutStore: String?
    private let label: String
    private let path: String
    private let spool: Spool
    private var archives: [String] = []
    private var stores: [any Store] = []
    private let formats: [any StoreFormat]
    private var identifiers: [String: String] = [:]

    /// How many folders one job looks at: fewer would cost more to hand out than to read.
    private static let foldersPerJob = 16

    /// - Parameters:
    ///   - path: the path of the capture, as given.
    ///   - spool: takes what is wanted of archives in the capture.
    init(label: String, path: String, spool: Spool, formats: [any StoreFormat]) {
        self.formats = formats
        self.label = label
        self.path = path
        self.spool = spool
    }

    /// Walks the folders level by level, then those of archives that lie in them.
    /// - Returns: the tree with the archives that were opened.
    /// - Throws: `FileError` for the root; what cannot be read below it becomes a problem. ``ArchiveError`` for archives
    ///   that pass the limits.
    mutating func run(
        through tree: FileTree, named rootName: String, leavingOut excluded: Set<FileIdentity>, limit: JobLimit
    ) async throws -> FileTree {
        let first = FolderVisit(tree: tree, path: "", name: rootName, excluded: excluded, formats: formats).run()
        if case .failure(let error) = first { throw error }
        try await descend(take(first, of: ""), tree, leavingOut: excluded, limit: limit)
        var tree = tree
        let found = archives.map { NestedArchive($0, in: path, label: label) }
        for archive in found.sorted(by: { $0.prefix.utf8.lexicographicallyPrecedes($1.prefix.utf8) }) {
            let opened = try archive.open(in: tree, spool: spool, formats: formats)
            problems += opened.problems
            isIncomplete = isIncomplete || opened.isIncomplete
            guard let members = opened.tree else { continue }
            let part = tree.add(members, prefix: archive.prefix)
            let root = FolderVisit(
                tree: part, path: archive.prefix, name: archive.rootName, excluded: [], formats: formats
            ).run()
            try await descend(take(root, of: archive.prefix), part, leavingOut: [], limit: limit)
        }
        return tree
    }

    private mutating func descend(
        _ folders: [String], _ tree: FileTree, leavingOut excluded: Set<FileIdentity>, limit: JobLimit
    ) async throws {
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
                                formats: formats
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
            if let identifier = visit.identifier { identifiers[path] = identifier }
            problems += visit.notFiles.map { found in
                PlacedProblem(capture: label, path: found.path, problem: found.problem)
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

    private mutating func report(_ path: String, _ error: FileError) {
        isIncomplete = true
        problems.append(
            PlacedProblem(capture: label, path: path, problem: Problem("unreadable", error.description)))
    }
}
