import Bytes
import Files

/// A file or folder with queued telemetry that was recognized in a capture.
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
    /// The number of units, usually files, whose indices are passed to ``scan(_:in:)``. The default is 1.
    var fileCount: Int { get }
    /// Whether all files must be read by a single job because they depend on each other, which is `false` by default.
    var isReadByOneJob: Bool { get }

    /// Starts reading the files with the given indices in the order of the store.
    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan
}

extension Store {
    /// A single part that represents the whole store.
    public var parts: [StorePart] { [StorePart(kind: kind, path: path)] }
    /// An empty array, for stores without companion files.
    public var companionPaths: [String] { [] }
    /// A single unit, because the store is one file.
    public var fileCount: Int { 1 }
    /// The files do not depend on each other.
    public var isReadByOneJob: Bool { false }
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

/// A scan of a store, which can be interrupted between two outputs.
public protocol StoreScan: Sendable {
    /// Reads until the output is full or the end of the store is reached.
    ///
    /// - Returns: Whether there is more to read.
    /// - Throws: `FileError` with the operation `spool` if there is no space for a required copy. The findings must not
    ///   be used then. All other errors are reported as problems or rejects.
    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool
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
    /// The folder for temporary copies of databases.
    public var copyFolder: String
    /// Whether stores report on their contents, such as the state of their queues.
    public var reportsQueues: Bool
    /// The systems whose sequence numbers are read from payloads, or `nil` if the numbers are not needed.
    public var numberedSystems: SystemTable?
    /// The systems whose uploads can be requests for the deletion of data, or `nil` if such requests are not needed.
    public let systems: SystemTable?
    /// The types, of any system, of records that can be requests for the deletion of data.
    ///
    /// They are collected once, because looking up the system of each record would take a noticeable time.
    let deletionRequestTypes: Set<CapturedText>
    /// The function that distributes work on large files across cores.
    public var parallelFor: ParallelFor

    /// Creates options for reading stores.
    public init(
        filter: RecordFilter = RecordFilter(), pseudonymizer: RecordPseudonymizer? = nil,
        quarantineFileLimit: Int = 64 << 20, copyFolder: String = "/tmp", reportsQueues: Bool = false,
        numberedSystems: SystemTable? = nil, systems: SystemTable? = nil,
        parallelFor: @escaping ParallelFor = sequentialFor
    ) {
        self.filter = filter
        self.pseudonymizer = pseudonymizer
        self.quarantineFileLimit = quarantineFileLimit
        self.copyFolder = copyFolder
        self.reportsQueues = reportsQueues
        self.numberedSystems = numberedSystems
        self.systems = systems
        deletionRequestTypes = Set(systems?.all.flatMap(\.uploads.precedence.first) ?? [])
        self.parallelFor = parallelFor
    }
}

/// A function that calls `work` with each number in `0..<count`, possibly in parallel.
///
/// The function returns after all calls have returned. It allows readers to use several cores without depending on
/// threads.
public typealias ParallelFor = @Sendable (_ count: Int, _ work: @Sendable (Int) -> Void) -> Void

/// Calls `work` with each number in order, without parallelism.
public let sequentialFor: ParallelFor = { count, work in
    for number in 0..<count { work(number) }
}
