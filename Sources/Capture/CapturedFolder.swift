import Files
import Parallel
import Telemetry

/// A folder pulled from a device, walked once: its stores, by path, and what could not be looked at.
public final class CapturedFolder: Sendable {
    /// What records name the capture.
    public let label: String
    /// The path as given.
    public let path: String
    /// The stores, by the UTF-8 bytes of their paths.
    public let stores: [FoundStore]
    /// What could not be read, and other things to tell about places in the capture.
    public let problems: [PlacedProblem]
    /// Whether something in the capture could not be looked at.
    public let isIncomplete: Bool
    /// The path of a file that was to be left out although it is a store's, by its name; nil if there is none.
    public let leftOutStore: String?
    let tree: CaptureTree
    private let containers: [Container: [Int]]

    /// The most bytes of a store file that are parsed; a larger one goes to quarantine as it is.
    static let storeFileLimit = 32 << 20

    /// Walks a folder.
    ///
    /// - Parameters:
    ///   - path: the folder, or a link to one.
    ///   - label: what records name the capture.
    ///   - excluded: files that are not to be read, such as the output.
    ///   - spool: takes what is wanted of archives in the folder.
    ///   - limit: how many folders are looked at at once.
    /// - Throws: `FileError` if the folder itself cannot be opened or listed; ``ArchiveError`` if the spool cannot take
    ///   what archives hold.
    public convenience init(
        path: String, label: String, leavingOut excluded: Set<FileIdentity> = [], spool: Spool = Spool(),
        limit: JobLimit
    ) async throws {
        try await self.init(
            CaptureTree(TreeFolder(try Folder(path: path))), path: path, label: label,
            rootName: Self.lastPart(of: path), problems: [], leavingOut: excluded, spool: spool, limit: limit)
    }

    /// Reads an archive, front to back, and walks what it holds.
    ///
    /// - Parameters:
    ///   - archive: its bytes.
    ///   - path: its path, as given.
    ///   - label: what records name the capture.
    ///   - spool: takes what is wanted of it.
    ///   - limit: how many folders are looked at at once.
    /// - Throws: ``ArchiveError`` if nothing can be read, it passes the limits, or the spool cannot take what it holds.
    public convenience init(
        archive: ArchiveBytes, path: String, label: String, spool: Spool, limit: JobLimit
    ) async throws {
        let place = ArchivePlace(label: label, path: path)
        let members = try ArchiveSpooler(place, spool: spool).run(archive)
        try await self.init(
            CaptureTree(TreeFolder(rootOf: members.tree)), path: path, label: label, rootName: place.rootName,
            problems: members.problems, leavingOut: [], spool: spool, limit: limit)
    }

    private init(
        _ tree: CaptureTree, path: String, label: String, rootName: String, problems: [PlacedProblem],
        leavingOut excluded: Set<FileIdentity>, spool: Spool, limit: JobLimit
    ) async throws {
        var walk = StoreWalk(label: label, path: path, spool: spool)
        let tree = try await walk.run(through: tree, named: rootName, leavingOut: excluded, limit: limit)
        self.label = label
        self.path = path
        stores = walk.sortedStores(of: tree, rootName: rootName)
        self.problems = problems + walk.sortedProblems()
        isIncomplete = walk.isIncomplete || !problems.isEmpty
        leftOutStore = walk.leftOutStore
        containers = Dictionary(grouping: stores.indices) { [stores] in stores[$0].container }
        self.tree = tree
    }

    /// The most bytes of a keyed archive that are read: as many as a property list may have (design, section 1).
    public static let largestArchive = 512 << 20

    /// Takes a single store file for a capture with nothing else in it.
    /// - Returns: nil if its name is that of no store, and its contents, up to ``largestArchive``, are none.
    /// - Throws: `FileError` if the folder that it lies in cannot be opened.
    public init?(file path: String, label: String) throws(FileError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let tree = CaptureTree(TreeFolder(try Folder(path: folder)))
        var visit = FolderVisit(tree: tree, path: "", name: Self.lastPart(of: folder), excluded: [])
        let stores = visit.stores(named: name, in: folder)
        guard let container = stores.first?.container else { return nil }
        self.label = label
        self.path = folder
        self.stores = stores
        containers = [container: Array(stores.indices)]
        problems = []
        isIncomplete = false
        leftOutStore = nil
        self.tree = tree
    }

    /// The stores of a container.
    func stores(in container: Container) -> [FoundStore] {
        (containers[container] ?? []).map { stores[$0] }
    }

    /// The name that a path ends with: what a capture is called unless a label is given.
    public static func lastPart(of path: String) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        return parts.last.map { String(decoding: $0, as: UTF8.self) } ?? path
    }
}
