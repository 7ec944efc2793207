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

/// The reading of a store: it hands out what it finds until it is done. There is no other way to stop and go on.
public protocol StoreScan: Sendable {
    /// Reads on until the output is full or the store ends.
    /// - Returns: whether there is more to read.
    /// - Throws: `FileError` with operation `spool` if there is no room for what has to be copied to be read: nothing that
    ///   was read counts then. All other faults become problems or rejects.
    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool

    /// Reads on likewise. A store that is read file by file lends the output after each of them, so that records can be handed
    /// on while their memory is at hand.
    /// - Parameter handOn: may hand on the records that there are; what it leaves stays in the output.
    mutating func read(into output: inout ScanOutput, handOn: (inout ScanOutput) -> Void) throws(FileError) -> Bool
}

extension StoreScan {
    /// Reads on without lending the output.
    public mutating func read(
        into output: inout ScanOutput, handOn: (inout ScanOutput) -> Void
    ) throws(FileError) -> Bool {
        try read(into: &output)
    }
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

/// How stores are read.
public struct ScanOptions: Sendable {
    /// Random numbers, the same for all of a run; see `RecordKey`.
    public var secret: RunSecret
    /// The most bytes of one file that go to quarantine.
    public var quarantineFileLimit: Int
    /// Where private copies of databases are made, in files without names.
    public var copyFolder: String
    /// Whether what a scan alone shows is found out too: what the SDKs' own rules say of queues, and how many events repeat
    /// others.
    public var reportsQueues: Bool
    /// Runs the work on one large file, on as many cores as are free.
    public var spread: Spread

    /// Makes options.
    public init(
        secret: RunSecret, quarantineFileLimit: Int = 64 << 20, copyFolder: String = "/tmp",
        reportsQueues: Bool = false, spread: @escaping Spread = oneAfterAnother
    ) {
        self.secret = secret
        self.quarantineFileLimit = quarantineFileLimit
        self.copyFolder = copyFolder
        self.reportsQueues = reportsQueues
        self.spread = spread
    }
}
