import Bundle
import Bytes
import Files
import Synchronization
import Telemetry

/// A scan of a request log, implemented as a class because its state cannot be copied.
final class RequestLogScan: StoreScan {
    private let reading: Mutex<RequestLogReader>

    init(_ log: RequestLog, limit: JobLimit = JobLimit(jobs: 1)) {
        reading = Mutex(RequestLogReader(log, limit: limit))
    }

    func read(into output: inout ScanOutput) throws -> Bool { try reading.withLock { try $0.read(into: &output) } }
}

/// A request log in a capture.
public struct RequestLog: Sendable {
    /// The format of the log.
    public let kind: RequestLogKind
    /// The label of the capture.
    public let label: String
    /// The path of the log in the capture.
    public let path: String
    let source: ByteSource
    let systems: SystemTable
    let itemLimit: Int
    /// The files that may contain bodies of requests, or `nil` if the log is not in a folder.
    var attachedBodies: AttachedBodies?

    /// Creates a request log from a file.
    ///
    /// `itemLimit` is the maximum number of bytes of a line, or of the needed parts of an HTTP archive entry.
    public init(
        _ source: ByteSource, kind: RequestLogKind, label: String, path: String, systems: SystemTable,
        itemLimit: Int = InputLimits.logItemSize
    ) {
        self.source = source
        self.systems = systems
        self.itemLimit = itemLimit
        self.kind = kind
        self.label = label
        self.path = path
    }

    /// Reads the whole log, and calls `consume` with each output, in order.
    ///
    /// The next output is read while `consume` processes the previous one.
    ///
    /// - Parameters:
    ///   - input: The index of the input.
    ///   - options: The options for reading stores.
    ///   - limit: The limit on the number of jobs.
    ///   - consume: Processes an output.
    /// - Throws: The errors of `consume`.
    public func read(
        input: Int, _ options: ScanOptions, limit: JobLimit, _ consume: (ScanOutput) async throws -> Void
    ) async throws {
        let scan = RequestLogScan(self, limit: options.limit)
        var outputs = OrderedTasks<(ScanOutput, hasMore: Bool)>(limit: limit)
        let readOn = { @Sendable in
            var output = ScanOutput(capture: label, input: input, writingWith: options)
            let hasMore = try output.fill { try scan.read(into: &$0) }
            return (output, hasMore: hasMore)
        }
        outputs.add(readOn)
        while let (output, hasMore) = try await outputs.next() {
            if hasMore { outputs.add(readOn) }
            try await consume(output)
        }
    }
}

private struct RequestLogReader: ~Copyable {
    private let log: RequestLog
    private let limit: JobLimit
    private var items: LogItems?
    private var hasStarted = false
    private var others: [OtherTraffic: Int] = [:]
    /// The rejected spans that are not hashed yet.
    private var rejects: [SpanReject] = []
    private var hashes: SpanHasher
    private var bytesCounted = 0
    /// The HTTP status of each delivered request, by the key of its record, or `nil` until it is needed.
    private var delivered: [RecordKey: Int]?

    private static let rejectBatchSize = 1024

    init(_ log: RequestLog, limit: JobLimit) {
        self.log = log
        self.limit = limit
        hashes = SpanHasher(of: log.source)
    }

    /// Reads an item, and returns whether there may be more.
    mutating func read(into output: inout ScanOutput) throws -> Bool {
        if !hasStarted { start() }
        defer {
            output.bytesRead += (items?.offset ?? bytesCounted) - bytesCounted
            bytesCounted = items?.offset ?? bytesCounted
        }
        guard let item = items?.next() else {
            finish(&output)
            return false
        }
        switch item.finding {
        case .upload(let record, let status): try add(record, status, into: &output)
        case .other(let traffic): others[traffic, default: 0] += 1
        case .reject(let reason):
            rejects.append(SpanReject(reason: reason, start: item.start, end: item.end))
            if rejects.count >= Self.rejectBatchSize { quarantineRejects(&output) }
        }
        return true
    }

    private mutating func start() {
        hasStarted = true
        do {
            items = try LogItems(log, limit: limit)
        } catch {
            rejects.append(SpanReject(reason: "har_damaged \(error)", start: nil, end: nil))
        }
    }

    private mutating func add(_ record: Record, _ status: Int?, into output: inout ScanOutput) throws {
        var record = record
        if status != nil, record.deliveredStatus == nil, let other = deliveryStatus(of: record) {
            record.notes.append("an equal request of this log was answered \(other)")
            record.held.append(.delivered(status: other))
        }
        try output.add(record)
    }

    /// Returns the HTTP status with which a request equal to `record` was delivered, or `nil` if none was delivered.
    ///
    /// The whole log is read ahead once, because a retry follows later in the log.
    private mutating func deliveryStatus(of record: Record) -> Int? {
        if delivered == nil {
            var found: [RecordKey: Int] = [:]
            // Faults are reported by the main reading.
            if var ahead = try? LogItems(log, onlyDelivered: true, limit: limit) {
                while let item = ahead.next() {
                    guard case .upload(let record, _) = item.finding, let status = record.deliveredStatus else {
                        continue
                    }
                    found[RecordKey(record)] = status
                }
            }
            delivered = found
        }
        return delivered?[RecordKey(record)]
    }

    private mutating func finish(_ output: inout ScanOutput) {
        for (traffic, count) in others.sorted(by: { $0.key < $1.key }) {
            output.report(Problem(traffic.code, "\(count.counted("request")) \(traffic.words)"), path: log.path)
        }
        quarantineRejects(&output)
        if let problem = items?.limitProblem { output.report(problem, path: log.path) }
    }

    private mutating func quarantineRejects(_ output: inout ScanOutput) {
        do {
            for span in try hashes.hash(rejects) {
                output.quarantine(
                    QuarantineEntry(
                        capture: log.label, path: log.path, store: log.kind.store, reject: span.reject,
                        size: span.size, sha256: span.sha256, isStored: false))
            }
        } catch {
            output.report(Problem("unreadable", "\(error)"), path: log.path)
        }
        rejects = []
    }
}

// MARK: - Stores

/// The format of request logs, which are HTTP archives, NDJSON files and the sessions of Charles and Fiddler.
struct RequestLogFormat: StoreFormat {
    let systems: SystemTable
    let kinds = StoreKind.requestLogs

    func mayBelongToStore(_ file: MemberName) -> Bool {
        RequestLogKind.mayBeLog(file.name, in: file.folders)
            || file.folder == FiddlerSession.folderName && FiddlerSession.isName(file.name)
            || AttachedBodies.isBodyName(file.name) && !MemberNames.isInContainer(file.folders)
    }

    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        guard folder.name == FiddlerSession.folderName else { return nil }
        let numbers = FiddlerSession.numbers(of: folder.files)
        return numbers.isEmpty ? nil : FiddlerStore(path: folder.path, numbers: numbers, systems: systems)
    }

    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        let folders = Path.parts(of: folder.path)
        guard RequestLogKind.mayBeLog(name, in: folders) || RequestLogKind.mayBeText(name.utf8, in: folders) else {
            return .unrelated
        }
        do throws(FileError) {
            let source = try folder.source(Array(name.utf8))
            guard let kind = try RequestLogKind(source, inFolderAs: name, systems) else { return .unrelated }
            return .shared([
                RequestLogStore(path: folder.base + name, bodyFolder: folder.path, log: kind, systems: systems)
            ])
        } catch {
            if RequestLogKind.isLogName(name) { folder.report(unreadable: folder.base + name, error) }
            return .unrelated
        }
    }

    /// Returns the HTTP archive in `source`, a file whose name does not identify it, or `nil` if the file is none.
    func store(named name: [UInt8], _ source: ByteSource, in folder: borrowing InspectedFolder) -> (any Store)? {
        let text = String(decoding: name, as: UTF8.self)
        // A file that cannot be read is reported only if it has the name of a store.
        guard let kind = try? RequestLogKind(source, inFolderAs: text, systems), kind == .httpArchive else {
            return nil
        }
        return RequestLogStore(
            path: folder.path(of: name), bodyFolder: folder.path, log: kind, systems: systems)
    }

    /// Removes from `stores`, which are in one folder, the logs that are bodies of requests in an HTTP archive.
    static func removeAttachedBodies(from stores: inout [any Store]) {
        guard stores.contains(where: { ($0 as? RequestLogStore)?.log == .httpArchive }) else { return }
        stores.removeAll { store in
            guard let store = store as? RequestLogStore, store.log == .lines else { return false }
            return AttachedBodies.isBodyName(Path.name(of: store.path))
        }
    }

    // A log that is given as an input is detected by `RequestLogKind` before any stores are searched.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder) -> FileFinding {
        .unrelated
    }
}

/// A request log among the files of a capture.
private struct RequestLogStore: Store {
    let path: String
    /// The folder with the bodies that are stored next to the log.
    let bodyFolder: String
    let log: RequestLogKind
    let systems: SystemTable

    var system: SystemName? { nil }
    var kind: StoreKind { log.store }
    var isReadByOneJob: Bool { true }

    func scan(_ files: Range<Int>, in context: StoreContext) throws(FileError) -> any StoreScan {
        let source = try context.tree.source(at: path)
        var log = RequestLog(source, kind: log, label: context.capture, path: path, systems: systems)
        log.attachedBodies = AttachedBodies(tree: context.tree, folder: bodyFolder)
        return RequestLogScan(log, limit: context.options.limit)
    }
}
