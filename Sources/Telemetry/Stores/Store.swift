import Bytes
import Files

/// The stores of a system: their properties, and the rules that recognize them.
///
/// Stores are recognized by name, or by contents if the name is ambiguous or unknown. By default, nothing is recognized.
///
/// Source: "iOS backups", section 7, for the stores that backups omit.
public protocol StoreFormat: Sendable {
    /// The kinds of stores that the format recognizes.
    var kinds: [StoreKind] { get }

    /// Returns whether a file in an archive, judged by its name, may belong to a store or identify its app.
    ///
    /// A skipped file cannot be read later, because archives are read once from front to back. A false positive only
    /// costs time.
    func mayBelongToStore(_ file: MemberName) -> Bool

    /// Returns whether `name` is the name of a store, or of a file that belongs to `store`.
    ///
    /// The method is called for entries that are not read, such as links and special files. `store` is the store that
    /// consists of the whole folder, or `nil` if there is none.
    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool

    /// The beginnings, in lowercase, of the names that only stores and their files have.
    ///
    /// They identify copies with an altered name, which are reported and not read. `store` is the store that consists of
    /// the whole folder, or `nil` if there is none.
    func namePrefixes(in store: (any Store)?) -> [String]

    /// Returns a store that consists of the whole folder, or `nil` if the folder is not a store.
    ///
    /// If a store is returned, the files of the folder are not searched for other stores.
    func store(ofFolder folder: inout InspectedFolder) -> (any Store)?

    /// Returns the stores of the system in the file called `name`.
    ///
    /// The contents are read only if the name is ambiguous.
    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding

    /// Returns the stores of the system in a file that was specified without its folder.
    ///
    /// `path` is the path of the folder as it was specified. It can help to identify the file. By default, the file is
    /// recognized as in a folder.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder) -> FileFinding

    /// Returns the store in a file, identified only by its contents, or `nil` if there is none.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)?

    /// Returns a file of the given kind that contains only `bytes`, which are the rejected part of such a file.
    ///
    /// By default, the result is `nil`, because a part cannot be understood without the rest of its file.
    func file(ofPart bytes: [UInt8], _ reject: Reject, of kind: StoreKind) -> PartFile?

    /// The sentence, without a full stop, which reports that backups contain no stores of this format, or `nil` if
    /// backups contain them or if this is unknown.
    var absenceFromBackups: String? { get }

    /// Returns whether stores of this app in particular may be missing from a backup that contains `stores`.
    ///
    /// Returns `false` if ``absenceFromBackups`` reports the absence for all apps.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool

    /// The names of the classes whose instances identify a keyed archive as a store of the system with secrets.
    var secretClassNames: [String] { get }

    /// The keys of the secrets in these archives, such as the credentials of an SDK, whose values are always masked.
    ///
    /// A key is the name of a member of an instance, or a key of a dictionary.
    var secretKeys: [String] { get }

    /// The settings of apps for usage data.
    var usageDataSettings: [UsageDataSetting] { get }

    /// Returns the state of a setting in the contents of its property list, or `nil` if the contents are damaged.
    ///
    /// The property list is read even if it is not recognized as a store, because the absence of the key has a meaning.
    func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState?
}

extension StoreFormat {
    /// Returns `false`, because names do not identify stores.
    public func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { false }
    /// Returns an empty array, because names do not identify stores.
    public func namePrefixes(in store: (any Store)?) -> [String] { [] }
    /// Returns `nil`, because no folder as a whole is a store.
    public func store(ofFolder folder: inout InspectedFolder) -> (any Store)? { nil }
    /// Returns `.unrelated`, because no file in a folder is a store.
    public func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding { .unrelated }
    /// Recognizes the file as in a folder.
    public func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder)
        -> FileFinding
    { stores(ofFile: name, in: &folder) }
    /// Returns `nil`, because contents alone do not identify stores.
    public func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? { nil }
    /// Returns `nil`, because a part cannot be understood without the rest of its file.
    public func file(ofPart bytes: [UInt8], _ reject: Reject, of kind: StoreKind) -> PartFile? { nil }
    /// No stores are known to be missing from all backups.
    public var absenceFromBackups: String? { nil }
    /// Returns `false`, because no stores of certain apps are known to be missing.
    public func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool { false }
    /// No archives with secrets are known.
    public var secretClassNames: [String] { [] }
    /// No secrets are known.
    public var secretKeys: [String] { [] }
    /// No settings are known.
    public var usageDataSettings: [UsageDataSetting] { [] }
    /// Returns `nil`, because there are no settings.
    public func usageDataState(_ setting: UsageDataSetting, in contents: [UInt8]) -> UsageDataState? { nil }
}

/// The stores of a system that a file contains.
public enum FileFinding: Sendable {
    /// The file does not belong to the system.
    case unrelated
    /// The file belongs only to this system. The list is empty if the name matches but the contents do not.
    case exclusive([any Store])
    /// The file contains the given stores, and possibly stores of other systems. An example is a preferences file.
    case shared([any Store])
}

/// The smallest file that contains a part of a store file, so that the part can be read on its own.
public struct PartFile: Sendable {
    /// The contents of the file.
    public let contents: [UInt8]
    /// The range of the part in ``contents``.
    public let part: Range<Int>
    /// The index of the first record of the part in the original file.
    public let recordIndex: Int

    /// Creates a file that consists of `prefix`, a part and `suffix`.
    public init(_ part: [UInt8], after prefix: String = "", before suffix: String = "", recordIndex: Int = 0) {
        contents = prefix.utf8 + part + suffix.utf8
        self.part = prefix.utf8.count..<prefix.utf8.count + part.count
        self.recordIndex = recordIndex
    }
}

/// The name of a file in an archive and the names of its folders.
public struct MemberName: Sendable {
    /// The name of the file.
    public let name: String
    /// The names of the enclosing folders, outermost first.
    public let folders: [String]
    /// The name of the archived folder, derived from the name of the archive.
    public let rootName: String

    /// Creates the name of a file in an archive.
    public init(name: String, folders: [String], rootName: String) {
        self.name = name
        self.folders = folders
        self.rootName = rootName
    }

    /// The name of the folder that contains the file.
    public var folder: String { folders.last ?? rootName }
}

/// A file or folder with queued telemetry that was recognized in a capture.
///
/// By default, the files of a store are read in their order. For each, the reader from ``makeReader(in:)`` is called.
/// Stores that are not read file by file, such as databases, have their own ``scan(_:in:)``.
public protocol Store: Sendable {
    /// The path relative to the root of the capture, without a trailing slash.
    var path: String { get }
    /// The system that the store belongs to, or `nil` for a request log.
    var system: SystemName? { get }
    /// The kind of the store, or of its first part if it has several parts.
    var kind: StoreKind { get }
    /// The parts that reports list separately.
    ///
    /// By default, the only part is the store itself.
    var parts: [StorePart] { get }
    /// The paths of files that belong to the store if they exist, such as the journal of a database.
    var companionPaths: [String] { get }
    /// The path of the folder to which the names of the files are relative.
    var folderPath: String { get }
    /// The number of units, usually files, whose indices are passed to ``scan(_:in:)``. The default is 1.
    var fileCount: Int { get }
    /// Whether all files must be read by a single job because they depend on each other, which is `false` by default.
    var isReadByOneJob: Bool { get }

    /// The indices of the files with events that are not yet included in a ping, which is empty by default.
    var pendingEventFiles: Range<Int> { get }

    /// Returns the file at `index`, or `nil` if this unit is not a file but the report on the store.
    func file(at index: Int) -> StoreFile?

    /// Returns the report that is not made by the reader of the files, or `nil` if there is none.
    func report(in context: StoreContext) -> StoreReport?

    /// Creates a reader for the files.
    ///
    /// A reader can reuse its memory, because only one thread uses it at a time.
    func makeReader(in context: StoreContext) -> any StoreReader

    /// Starts reading the files with the given indices in the order of the store.
    ///
    /// - Throws: `FileError` if the store cannot be opened.
    func scan(_ files: Range<Int>, in context: StoreContext) throws(FileError) -> any StoreScan
}

extension Store {
    /// A single part that represents the whole store.
    public var parts: [StorePart] { [StorePart(kind: kind, path: path)] }
    /// An empty array, for stores without companion files.
    public var companionPaths: [String] { [] }
    /// The root of the capture.
    public var folderPath: String { "" }
    /// A single unit, because the store is one file.
    public var fileCount: Int { 1 }
    /// The files do not depend on each other.
    public var isReadByOneJob: Bool { false }
    /// An empty range, because the store contains no such events.
    public var pendingEventFiles: Range<Int> { 0..<0 }
    /// Returns `nil`, because the store is not read file by file.
    public func file(at index: Int) -> StoreFile? { nil }
    /// Returns `nil`, because the reader of the files reports their contents.
    public func report(in context: StoreContext) -> StoreReport? { nil }
    /// Returns a reader that adds nothing, because the store is not read file by file.
    public func makeReader(in context: StoreContext) -> any StoreReader { EmptyReader() }
    /// Returns a scan of the files in their order.
    public func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        FileScan(files, of: self, in: context)
    }
}

/// A store that consists of one file.
public protocol FileStore: Store {
    /// The location of the file.
    var location: FileLocation { get }
    /// The condition under which the file can contain credentials.
    var credentials: StoreFile.Credentials { get }
    /// The maximum size of a file that is parsed.
    var sizeLimit: FileSizeLimit { get }
}

extension FileStore {
    /// The path of the file.
    public var path: String { location.path }
    /// The folder that contains the file.
    public var folderPath: String { location.folderPath }
    /// The limit for files without a documented limit.
    public var sizeLimit: FileSizeLimit { .usual }
    /// Returns the file.
    public func file(at index: Int) -> StoreFile? {
        StoreFile(name: location.name, path: path, kind: kind, credentials: credentials, sizeLimit: sizeLimit)
    }

    /// Returns the contents of the file, or `nil` if it cannot be read or is larger than ``sizeLimit``.
    public func fileContents(in tree: FileTree) -> [UInt8]? {
        var bytes: [UInt8] = []
        guard let folder = try? tree.folder(at: folderPath),
            (try? folder.read(location.name, limit: sizeLimit.bytes, into: &bytes)) != nil
        else { return nil }
        return bytes
    }
}

/// A parser that converts the contents of store files to records.
public protocol StoreReader: Sendable {
    /// Converts `bytes`, which are the contents of the file at `index`, and adds the findings to `output`.
    ///
    /// `source` states the capture, the path and the kind of the file. Its index is 0.
    ///
    /// - Returns: Whether the file contains more. The method is then called again with the same file when `output` has
    ///   space.
    /// - Throws: The errors of `output`.
    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool

    /// Adds findings that depend on several files, after all files were read.
    ///
    /// - Returns: Whether there are more. The method is then called again when `output` has space.
    /// - Throws: The errors of `output`.
    mutating func finish(into output: inout ScanOutput) throws -> Bool
}

extension StoreReader {
    /// Returns `false`, because files do not depend on each other.
    public mutating func finish(into output: inout ScanOutput) throws -> Bool { false }
}

private struct EmptyReader: StoreReader {
    func read(_ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput) -> Bool { false }
}

/// A part of a store that reports list separately.
public struct StorePart: Sendable, Equatable {
    /// The kind of store that the part is.
    public let kind: StoreKind
    /// The path of the part, relative to the root of the capture.
    public let path: String

    /// Creates a part of a store.
    public init(kind: StoreKind, path: String) {
        self.kind = kind
        self.path = path
    }
}

/// The capture and the container that a store belongs to, and the options for reading it.
public struct StoreContext: Sendable {
    /// The label of the capture.
    public let capture: String
    /// The files of the capture.
    public let tree: FileTree
    /// The container that the store belongs to.
    public let container: Container
    /// All stores of the container, including the store itself.
    public let neighbors: ContainerStores
    /// The options for reading stores.
    public let options: ScanOptions

    /// Creates a context for reading a store.
    public init(
        capture: String, tree: FileTree, container: Container, neighbors: ContainerStores, options: ScanOptions
    ) {
        self.capture = capture
        self.tree = tree
        self.container = container
        self.neighbors = neighbors
        self.options = options
    }
}

/// The options for reading stores.
public struct ScanOptions: Sendable {
    /// The filter that selects the records to be kept.
    public var filter: RecordFilter
    /// The pseudonymizer, or `nil` if records keep their ids.
    public var pseudonymizer: RecordPseudonymizer?
    /// The maximum size, in bytes, of a file that is put into quarantine.
    public var quarantineFileLimit: Int
    /// The spool for the bytes of quarantined files, or `nil` if only their hashes are needed.
    public var quarantine: QuarantineSpool?
    /// Whether the quarantined items of bundles are read again.
    public var rereadsQuarantine = false
    /// The folder for temporary copies of databases.
    public var copyFolder: String
    /// Whether stores report on their contents, such as the state of their queues.
    public var reportsQueues: Bool
    /// Whether the records that are dropped as duplicates are listed.
    public var listsDroppedCopies: Bool
    /// The systems whose sequence numbers are read from payloads, or `nil` if the numbers are not needed.
    public var numberedSystems: SystemTable?
    /// The systems whose uploads can be requests for the deletion of data, or `nil` if such requests are not needed.
    public let systems: SystemTable?
    /// The types, of any system, of records that can be requests for the deletion of data.
    ///
    /// They are collected once, because looking up the system of each record would take a noticeable time.
    let deletionRequestTypes: Set<CapturedText>
    /// The limit on the number of jobs, which also applies to work on parts of large files.
    public var limit: JobLimit

    /// Creates options for reading stores.
    public init(
        filter: RecordFilter = RecordFilter(), pseudonymizer: RecordPseudonymizer? = nil,
        quarantineFileLimit: Int = 64 << 20, copyFolder: String = "/tmp", reportsQueues: Bool = false,
        listsDroppedCopies: Bool = false, numberedSystems: SystemTable? = nil, systems: SystemTable? = nil,
        limit: JobLimit = JobLimit(jobs: 1)
    ) {
        self.filter = filter
        self.pseudonymizer = pseudonymizer
        self.quarantineFileLimit = quarantineFileLimit
        self.copyFolder = copyFolder
        self.reportsQueues = reportsQueues
        self.listsDroppedCopies = listsDroppedCopies
        self.numberedSystems = numberedSystems
        self.systems = systems
        deletionRequestTypes = Set(systems?.all.flatMap(\.uploads.precedence.first) ?? [])
        self.limit = limit
    }
}
