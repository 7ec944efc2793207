import Bytes
import Files
import Synchronization

/// A folder that is searched for stores.
///
/// The lists ``files`` and ``folders`` contain no hidden entries. They contain excluded files only during the search
/// for excluded stores.
public struct InspectedFolder: ~Copyable {
    /// The path of the folder in the capture.
    public let path: String
    /// The name of the folder.
    public let name: String
    /// The common prefix of the paths of all entries.
    public let base: String
    /// The names of the regular files.
    public let files: [[UInt8]]
    /// The names of the subfolders.
    public let folders: [[UInt8]]
    /// The file tree of the capture.
    public let tree: FileTree
    /// The files that must not be read, such as the output of the command.
    public let excluded: Set<FileIdentity>

    /// The files and folders that may belong to a store but could not be read.
    public private(set) var unreadable: [(path: String, error: FileError)] = []
    private var unreadablePaths: Set<[UInt8]> = []
    /// The links and special files inside a store in this folder.
    public private(set) var skippedEntries: [SkippedEntry] = []
    /// All other problems.
    ///
    /// Each path is the path of the affected file or folder in the capture.
    public private(set) var problems: [(path: String, problem: Problem)] = []
    /// The path of an excluded file that belongs to a store, if there is one.
    public private(set) var excludedStorePath: String?
    /// The subfolders that belong to a store in this folder.
    ///
    /// They are not searched again.
    public private(set) var claimedFolders: Set<[UInt8]> = []

    /// The files that do not belong to the store that the folder is, and can be stores themselves.
    public private(set) var otherFiles: [[UInt8]] = []

    private let folder: Folder
    /// The last file that was read, cached because several formats read the same file.
    private var lastRead: (name: [UInt8], contents: [UInt8])?

    /// Creates a folder to be searched.
    public init(
        _ folder: consuming Folder, path: String, name: String, base: String, files: [[UInt8]],
        folders: [[UInt8]], tree: FileTree, excluded: Set<FileIdentity>
    ) {
        self.folder = folder
        self.path = path
        self.name = name
        self.base = base
        self.files = files
        self.folders = folders
        self.tree = tree
        self.excluded = excluded
    }

    /// Notes that the file called `name` does not belong to the store that the folder is.
    public mutating func exclude(fileFromStore name: [UInt8]) { otherFiles.append(name) }

    /// Returns the path, in the capture, of the entry called `name`.
    public func path(of name: [UInt8]) -> String {
        // Appending to a string would reserve excess capacity, which matters because a capture can have many paths.
        String(decoding: Array(base.utf8) + name, as: UTF8.self)
    }

    /// Returns the contents of the file called `name`.
    ///
    /// Throws `EFBIG` if the size of the file exceeds `limit`.
    public mutating func contents(of name: [UInt8], limit: Int = InputLimits.storeFileSize) throws(FileError) -> [UInt8]
    {
        if let lastRead, lastRead.name == name, lastRead.contents.count <= limit { return lastRead.contents }
        // The cached array is moved out so that its memory can be reused.
        var contents = lastRead?.contents ?? []
        lastRead = nil
        try folder.read(name, limit: limit, into: &contents)
        lastRead = (name, contents)
        return contents
    }

    /// Opens a file for reading at arbitrary offsets.
    public func source(_ name: [UInt8]) throws(FileError) -> ByteSource { try folder.source(name) }

    /// Returns whether the file called `name` contains all strings in `texts`.
    ///
    /// A file that cannot be read is reported. A file that is too large is reported only if `mustFit` is `true`.
    public mutating func holds(_ name: [UInt8], all texts: [String], mustFit: Bool) -> Bool {
        do throws(FileError) {
            let contents = try contents(of: name)
            return texts.allSatisfy { contents.contains(text: $0) }
        } catch {
            if !error.isTooLarge || mustFit { report(unreadable: path(of: name), error) }
            return false
        }
    }

    /// Reports a file or folder that may belong to a store but could not be read, unless it was reported before.
    public mutating func report(unreadable path: String, _ error: FileError) {
        guard unreadablePaths.insert(Array(path.utf8)).inserted else { return }
        unreadable.append((path, error))
    }

    /// Reports a problem with an entry, such as a folder in place of a store file.
    public mutating func report(_ problem: Problem, of name: [UInt8]) { problems.append((path(of: name), problem)) }

    /// Reports a link or special file inside a store.
    public mutating func report(_ entry: SkippedEntry) { skippedEntries.append(entry) }

    /// Reports that the excluded file at `path` belongs to a store.
    public mutating func report(leftOut path: String) { excludedStorePath = path }

    /// Marks a subfolder as a part of the store in this folder.
    public mutating func claim(folder name: [UInt8]) { claimedFolders.insert(name) }
}

/// A symbolic link or a special file in a capture, which is reported and not read.
public struct SkippedEntry: Sendable {
    /// The path of the entry in the capture.
    public let path: String
    /// Whether the entry is a symbolic link.
    public let isLink: Bool
    /// The target of the symbolic link, if it is known.
    public var target: LinkTarget?

    /// Creates a skipped entry.
    public init(path: String, isLink: Bool, target: LinkTarget? = nil) {
        self.path = path
        self.isLink = isLink
        self.target = target
    }

    /// The problem that reports the entry.
    public var problem: Problem {
        guard isLink else { return Problem("special", "not read: a pipe, a socket or a device in the place of a file") }
        guard let target = target?.shownPath else {
            return Problem("link", "symbolic link not followed; give its target as a capture of its own")
        }
        return Problem("link", "symbolic link to \(target) not followed; give that as a capture of its own")
    }
}

/// The folder of an app, an app group or a plugin that contains `Documents` and `Library`.
public struct Container: Sendable, Hashable {
    /// The kind of owner that a container has.
    public enum Kind: Sendable, Hashable {
        case app, group, plugin
    }

    /// The path relative to the root of the capture, which is empty for the root itself.
    @CapturedText public private(set) var path: String
    /// The bundle id or group identifier, if the capture contains it.
    @OptionalCapturedText public private(set) var identifier: String?
    /// The kind of owner that the container has.
    public let kind: Kind

    /// Creates a container.
    ///
    /// If `kind` is `nil`, it is derived from the identifier.
    public init(path: String, identifier: String?, kind: Kind? = nil) {
        self.path = path
        self.identifier = identifier
        self.kind = kind ?? (identifier?.hasPrefix(Self.groupPrefix) ?? false ? .group : .app)
    }

    private static let groupPrefix = "group."

    /// The bundle id of the app, if this is the container of an app.
    public var applicationID: String? { kind == .app ? identifier : nil }

    /// The bundle id of the app, if this is a group container called `group.<bundle id>`.
    public var groupApplicationID: String? {
        guard kind == .group, let identifier, identifier.hasPrefix(Self.groupPrefix) else { return nil }
        return String(identifier.dropFirst(Self.groupPrefix.count))
    }
}

/// The stores of a container.
///
/// A container can have hundreds of thousands of stores, each of which is read with the others at hand. Facts about all
/// of them are therefore computed only once.
public final class ContainerStores: Sendable {
    /// The stores, sorted by the UTF-8 bytes of their paths.
    public let stores: [any Store]
    private let facts = Mutex<[CapturedText: any Sendable]>([:])

    /// A value, which can be `nil`.
    private struct Fact<Value: Sendable>: Sendable {
        let value: Value
    }

    /// Creates the list of `stores`, which must have ascending paths.
    public init(_ stores: [any Store]) { self.stores = stores }

    /// Returns the first store at `path`, or `nil` if there is none.
    public func store(at path: String) -> (any Store)? {
        let index = stores.indices.partitioningIndex {
            !stores[$0].path.utf8.lexicographicallyPrecedes(path.utf8)
        }
        guard index < stores.count, stores[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return stores[index]
    }

    /// Returns the value that `compute` derives from the stores, which is computed only once for each name.
    ///
    /// `compute` must always return the same value for the container, because several jobs can call it.
    public func fact<Value: Sendable>(named name: String, _ compute: () -> Value) -> Value {
        if let known = facts.withLock({ $0[name] }) as? Fact<Value> { return known.value }
        let value = compute()
        facts.withLock { $0[name] = Fact(value: value) }
        return value
    }
}
