import Bundle
import Bytes
import Files
import Synchronization
import Telemetry

/// A scan of a request log, implemented as a class because its state cannot be copied.
final class RequestLogScan: StoreScan {
    private let reading: Mutex<RequestLogReader>

    init(_ log: RequestLog, parallelFor: @escaping ParallelFor = sequentialFor) {
        reading = Mutex(RequestLogReader(log, parallelFor: parallelFor))
    }

    func read(into output: inout ScanOutput) -> Bool {
        reading.withLock { reading in
            reading.read(into: &output)
            return !reading.isAtEnd
        }
    }
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
        let scan = RequestLogScan(self, parallelFor: options.parallelFor)
        var outputs = OrderedTasks<(ScanOutput, hasMore: Bool)>(limit: limit)
        let readOn = { @Sendable in
            var output = ScanOutput(capture: label, input: input, writingWith: options)
            let hasMore = scan.read(into: &output)
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
    private let parallelFor: ParallelFor
    private var items: LogItems?
    private var hasStarted = false
    private(set) var isAtEnd = false
    private var others: [OtherTraffic: Int] = [:]
    /// The rejected spans that are not hashed yet.
    private var rejects: [SpanReject] = []
    private var hashes: SpanHasher
    private var bytesCounted = 0
    /// The HTTP status of each delivered request, by the key of its record, or `nil` until it is needed.
    private var delivered: [RecordKey: Int]?

    private static let rejectBatchSize = 1024

    init(_ log: RequestLog, parallelFor: @escaping ParallelFor) {
        self.log = log
        self.parallelFor = parallelFor
        hashes = SpanHasher(of: log.source)
    }

    mutating func read(into output: inout ScanOutput) {
        if !hasStarted { start() }
        defer {
            output.bytesRead += (items?.offset ?? bytesCounted) - bytesCounted
            bytesCounted = items?.offset ?? bytesCounted
        }
        while !output.isFull {
            guard let item = items?.next() else {
                isAtEnd = true
                return finish(&output)
            }
            switch item.finding {
            case .upload(let record, let status): add(record, status, into: &output)
            case .other(let traffic): others[traffic, default: 0] += 1
            case .reject(let reason):
                rejects.append(SpanReject(reason: reason, start: item.start, end: item.end))
                if rejects.count >= Self.rejectBatchSize { quarantineRejects(&output) }
            }
        }
    }

    private mutating func start() {
        hasStarted = true
        do {
            items = try LogItems(log, parallelFor: parallelFor)
        } catch {
            rejects.append(SpanReject(reason: "har_damaged \(error)", start: nil, end: nil))
        }
    }

    private mutating func add(_ record: Record, _ status: Int?, into output: inout ScanOutput) {
        var record = record
        if status != nil, record.deliveredStatus == nil, let other = deliveryStatus(of: record) {
            record.notes.append("an equal request of this log was answered \(other)")
            record.held.append(.delivered(status: other))
        }
        output.add(record)
    }

    /// Returns the HTTP status with which a request equal to `record` was delivered, or `nil` if none was delivered.
    ///
    /// The whole log is read ahead once, because a retry follows later in the log.
    private mutating func deliveryStatus(of record: Record) -> Int? {
        if delivered == nil {
            var found: [RecordKey: Int] = [:]
            // Faults are reported by the main reading.
            if var ahead = try? LogItems(log, onlyDelivered: true, parallelFor: parallelFor) {
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
        guard RequestLogKind.mayBeLog(name, in: Path.parts(of: folder.path)) else { return .unrelated }
        do throws(FileError) {
            let source = try folder.source(Array(name.utf8))
            guard let kind = try RequestLogKind(source, inFolderAs: name, systems) else { return .unrelated }
            return .shared([
                RequestLogStore(path: folder.base + name, folderPath: folder.path, log: kind, systems: systems)
            ])
        } catch {
            if RequestLogKind.isLogName(name) { folder.report(unreadable: folder.base + name, error) }
            return .unrelated
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
    let folderPath: String
    let log: RequestLogKind
    let systems: SystemTable

    var system: SystemName? { nil }
    var kind: StoreKind { log.store }
    var isReadByOneJob: Bool { true }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        do throws(FileError) {
            let source = try context.tree.source(at: path)
            var log = RequestLog(source, kind: log, label: context.capture, path: path, systems: systems)
            log.attachedBodies = AttachedBodies(tree: context.tree, folder: folderPath)
            return RequestLogScan(log, parallelFor: context.options.parallelFor)
        } catch {
            return UnreadableStore(path: path, error: error)
        }
    }
}

/// A scan of a store that cannot be opened.
private struct UnreadableStore: StoreScan {
    let path: String
    let error: FileError

    mutating func read(into output: inout ScanOutput) throws(FileError) -> Bool {
        output.report(Problem("unreadable", error.description), path: path)
        return false
    }
}
