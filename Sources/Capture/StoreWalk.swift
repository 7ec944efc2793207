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
    private var stores: [FolderVisit.Store] = []
    private var identifiers: [String: String] = [:]

    /// So many folders make a job worth its while.
    private static let foldersPerJob = 16

    init(label: String) {
        self.label = label
    }

    /// Walks the folders level by level.
    /// - Throws: `FileError` for the root; what cannot be read below it becomes a problem.
    mutating func run(
        from root: RootFolder, named rootName: String, leavingOut excluded: Set<FileIdentity>, limit: JobLimit
    ) async throws {
        let first = FolderVisit(root: root, path: "", name: rootName, excluded: excluded).run()
        if case .failure(let error) = first { throw error }
        var level = take(first, of: "")
        while !level.isEmpty {
            var tasks = OrderedTasks<[Result<FolderVisit, FileError>]>(limit: limit)
            let jobs = stride(from: 0, to: level.count, by: Self.foldersPerJob).map { start in
                Array(level[start..<min(start + Self.foldersPerJob, level.count)])
            }
            for paths in jobs {
                tasks.add {
                    paths.map { path in
                        FolderVisit(
                            root: root, path: path, name: CapturedFolder.lastPart(of: path), excluded: excluded
                        ).run()
                    }
                }
            }
            var next: [String] = []
            for paths in jobs {
                for (path, visit) in zip(paths, try await tasks.next() ?? []) { next += take(visit, of: path) }
            }
            level = next
        }
    }

    /// The stores with their containers, by the bytes of their paths.
    func sortedStores(rootName: String) -> [FoundStore] {
        let containers = ContainerFinder(identifiers: identifiers, rootName: rootName)
        return
            stores
            .map { FoundStore(path: $0.path, contents: $0.contents, container: containers.container(of: $0.path)) }
            .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
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
            problems += visit.links.map { link in
                PlacedProblem(
                    capture: label, path: link,
                    problem: Problem("link", "symbolic link not followed; give its target as a capture of its own"))
            }
            for (file, error) in visit.unreadable { report(file, error) }
            return visit.folders
        case .failure(let error):
            report(path, error)
            return []
        }
    }

    private mutating func report(_ path: String, _ error: FileError) {
        isIncomplete = true
        problems.append(
            PlacedProblem(capture: label, path: path, problem: Problem("unreadable", error.description)))
    }
}

/// An open folder that threads share.
final class RootFolder: Sendable {
    let folder: Folder

    init(_ folder: consuming Folder) {
        self.folder = folder
    }
}
