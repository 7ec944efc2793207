import Files

/// A store that was recognized in a capture.
public protocol Store: Sendable {
    /// The path relative to the root of the capture, without a trailing slash.
    var path: String { get }
    /// The system that the store belongs to, or `nil` for a log of the requests of several systems.
    var system: SystemName? { get }
    /// The kind of the store, or of its first part if it has several parts.
    var kind: StoreKind { get }
    /// The parts that reports list, one row each, which are only the store itself by default.
    var parts: [StorePart] { get }
    /// The paths of files next to the store that belong to it if they exist.
    var companionPaths: [String] { get }
    /// The number of files to read.
    var fileCount: Int { get }
    /// Whether the files depend on each other, so that a single job must read them all.
    var isReadByOneJob: Bool { get }

    /// Starts reading the files with the given indices in the order of the store.
    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan
}

extension Store {
    /// The store itself.
    public var parts: [StorePart] { [StorePart(kind: kind, path: path)] }
    /// No files.
    public var companionPaths: [String] { [] }
}

/// A part of a store that reports list separately.
public struct StorePart: Sendable, Equatable {
    /// The kind of the part.
    public let kind: StoreKind
    /// The path relative to the root of the capture.
    public let path: String

    /// Creates a part of a store.
    public init(kind: StoreKind, path: String) {
        self.kind = kind
        self.path = path
    }
}

/// A scan of a store, which can be interrupted between two outputs.
public protocol StoreScan: Sendable {
    /// Reads until the output is full or the store ends.
    ///
    /// - Returns: Whether there is more to read.
    /// - Throws: `FileError` with the operation `spool` if there is no space for a required copy. The findings must not
    ///   be used then. All other errors are reported as problems or rejects.
    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool
}

/// The surroundings of a store, and the options for reading it.
public struct StoreContext: Sendable {
    /// The label of the capture.
    public let capture: String
    /// The files of the capture.
    public let tree: FileTree
    /// The container that the store belongs to.
    public let container: Container
    /// All stores of the container, including the store itself.
    public let neighbors: [any Store]
    /// The options for reading stores.
    public let options: ScanOptions

    /// Creates a context.
    public init(capture: String, tree: FileTree, container: Container, neighbors: [any Store], options: ScanOptions) {
        self.capture = capture
        self.tree = tree
        self.container = container
        self.neighbors = neighbors
        self.options = options
    }
}

/// The options for reading stores.
public struct ScanOptions: Sendable {
    /// The random keys of the run, under which records are hashed.
    public var secret: RunSecret
    /// The filter for records.
    public var filter: RecordFilter
    /// The pseudonymizer, or `nil` if records are kept as they are.
    public var pseudonymizer: RecordPseudonymizer?
    /// The maximum size, in bytes, of a file that is put into quarantine.
    public var quarantineFileLimit: Int
    /// The folder for private copies of databases, which are files without names.
    public var copyFolder: String
    /// Whether stores report on themselves, such as the state of their queues and the number of repeated events.
    public var reportsQueues: Bool
    /// The function that distributes the work on a large file across the available cores.
    public var parallelFor: ParallelFor

    /// Creates options.
    public init(
        secret: RunSecret, filter: RecordFilter = RecordFilter(), pseudonymizer: RecordPseudonymizer? = nil,
        quarantineFileLimit: Int = 64 << 20, copyFolder: String = "/tmp", reportsQueues: Bool = false,
        parallelFor: @escaping ParallelFor = sequentialFor
    ) {
        self.secret = secret
        self.filter = filter
        self.pseudonymizer = pseudonymizer
        self.quarantineFileLimit = quarantineFileLimit
        self.copyFolder = copyFolder
        self.reportsQueues = reportsQueues
        self.parallelFor = parallelFor
    }
}
