import Files

/// A store that was recognized in a capture, and what has to be known of it before it is read.
public protocol Store: Sendable {
    /// Path below the root of the capture; a folder's without a slash at its end.
    var path: String { get }
    /// The system whose store it is; nil for a log of the requests of several.
    var system: SystemName? { get }
    /// How records name the kind of store; of one with several parts, that of the first.
    var kind: StoreKind { get }
    /// What reports list the store as, one row each; never empty. Mostly the store itself.
    var parts: [StorePart] { get }
    /// Paths of files beside it that belong to it, if they are there.
    var companionPaths: [String] { get }
    /// How many files there are to read.
    var fileCount: Int { get }
    /// Whether its files tell of each other, so that one job reads them all.
    var isReadAtOnce: Bool { get }

    /// Begins to read some of the files, by their places in the order in which the store gives its records.
    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan
}

extension Store {
    /// The store itself.
    public var parts: [StorePart] { [StorePart(kind: kind, path: path)] }
    /// None.
    public var companionPaths: [String] { [] }
}

/// A part of a store that reports list by itself.
public struct StorePart: Sendable, Equatable {
    /// How records name the kind of store.
    public let kind: StoreKind
    /// Path below the root of the capture.
    public let path: String

    /// Names a part by its kind and its path.
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
    /// - Throws: `FileError` with operation `spool` if there is no room for a copy that is needed. In this case, the findings
    ///   must not be used. All other faults become problems or rejects.
    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool
}

/// Where a store lies, and how it is to be read.
public struct StoreContext: Sendable {
    /// The label of the capture.
    public let capture: String
    /// The files of the capture.
    public let tree: FileTree
    /// The container that the store belongs to.
    public let container: Container
    /// All stores of the container, the store itself among them.
    public let neighbors: [any Store]
    /// How stores are read.
    public let options: ScanOptions

    /// Collects what a scan may ask for.
    public init(
        capture: String, tree: FileTree, container: Container, neighbors: [any Store], options: ScanOptions
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
    /// Random numbers, the same for a whole run. `RecordKey` explains their use.
    public var secret: RunSecret
    /// The records that are wanted.
    public var filter: RecordFilter
    /// Makes pseudonyms. `nil` leaves records as they are.
    public var pseudonymizer: RecordPseudonymizer?
    /// The maximum number of bytes of one file that are put into quarantine.
    public var quarantineFileLimit: Int
    /// The folder for private copies of databases, which are files without names.
    public var copyFolder: String
    /// Whether stores report about themselves: the state of queues by the rules of the SDK, and the number of repeated events.
    public var reportsQueues: Bool
    /// Divides the work on one large file among the available cores.
    public var spread: Spread

    /// Creates options.
    public init(
        secret: RunSecret, filter: RecordFilter = RecordFilter(), pseudonymizer: RecordPseudonymizer? = nil,
        quarantineFileLimit: Int = 64 << 20, copyFolder: String = "/tmp", reportsQueues: Bool = false,
        spread: @escaping Spread = oneAfterAnother
    ) {
        self.secret = secret
        self.filter = filter
        self.pseudonymizer = pseudonymizer
        self.quarantineFileLimit = quarantineFileLimit
        self.copyFolder = copyFolder
        self.reportsQueues = reportsQueues
        self.spread = spread
    }
}
