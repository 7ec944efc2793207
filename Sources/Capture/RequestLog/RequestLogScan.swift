import Bundle
import Synchronization
import Telemetry

/// The reading of a request log, a batch at a time. A class, because a job that has filled its batch hands it on.
final class RequestLogScan: Sendable {
    private let reading: Mutex<RequestLogReading>

    /// Begins at the start of a log.
    /// - Parameters:
    ///   - log: what it is and where it was found.
    ///   - input: the number of the input.
    ///   - store: the place of the log among the stores of the input.
    init(_ log: RequestLog, input: Int, store: Int?, _ options: HarvestOptions) {
        reading = Mutex(RequestLogReading(log, input: input, store: store, options))
    }

    /// The next batch; nil at the end.
    func next() -> Batch? {
        reading.withLock { reading in
            guard !reading.isAtEnd else { return nil }
            var batch = Batch()
            reading.read(into: &batch)
            return batch
        }
    }

    /// Reads on until the batch is full.
    /// - Returns: whether there is more.
    func read(into batch: inout Batch) -> Bool {
        reading.withLock { reading in
            reading.read(into: &batch)
            return !reading.isAtEnd
        }
    }
}

/// A request log and where it was found.
public struct RequestLog: Sendable {
    /// What it is.
    public let kind: RequestLogKind
    /// The label of the capture.
    public let label: String
    /// The path in the capture.
    public let path: String
    let source: ByteSource
    let itemLimit: Int

    /// Takes a file for a request log.
    /// - Parameter itemLimit: the most bytes of one line, or of what is wanted of an entry, that are kept in memory.
    public init(
        _ source: ByteSource, kind: RequestLogKind, label: String, path: String, itemLimit: Int = 32 << 20
    ) {
        self.source = source
        self.itemLimit = itemLimit
        self.kind = kind
        self.label = label
        self.path = path
    }

    /// Reads all of it.
    /// - Parameters:
    ///   - input: the number of the input, from 0.
    ///   - consume: takes the batches in order.
    public func read(input: Int, _ options: HarvestOptions, _ consume: (Batch) -> Void) {
        let scan = RequestLogScan(self, input: input, store: nil, options)
        while let batch = scan.next() { consume(batch) }
    }
}

/// The state of reading a request log.
private struct RequestLogReading: ~Copyable {
    private let log: RequestLog
    private let input: Int
    private let store: Int?
    private let options: HarvestOptions
    private var items: LogItems?
    private var isBegun = false
    private(set) var isAtEnd = false
    private var others: [OtherTraffic: Int] = [:]
    /// What was rejected and is still to be hashed.
    private var rejects: [SpanReject] = []
    private var hashes: SpanHashes
    private var bytesCounted = 0
    /// The requests that arrived, once it matters whether an equal one did, and the status of their answers.
    private var delivered: [RecordKey: Int]?

    /// So many are hashed at once.
    private static let rejectsAtOnce = 1024

    init(_ log: RequestLog, input: Int, store: Int?, _ options: HarvestOptions) {
        self.log = log
        self.input = input
        self.store = store
        self.options = options
        hashes = SpanHashes(of: log.source)
    }

    mutating func read(into batch: inout Batch) {
        if !isBegun { begin() }
        defer {
            batch.bytesRead += (items?.offset ?? bytesCounted) - bytesCounted
            bytesCounted = items?.offset ?? bytesCounted
        }
        while !batch.isFull {
            guard let item = items?.next() else {
                isAtEnd = true
                return finish(&batch)
            }
            switch item.finding {
            case .upload(let record, let status): take(record, status, into: &batch)
            case .other(let traffic): others[traffic, default: 0] += 1
            case .reject(let reason):
                rejects.append(SpanReject(reason: reason, start: item.start, end: item.end))
                if rejects.count >= Self.rejectsAtOnce { quarantineRejects(&batch) }
            }
        }
    }

    private mutating func begin() {
        isBegun = true
        do throws(PlainTextFault) {
            items = try LogItems(log)
        } catch {
            rejects.append(SpanReject(reason: "har_damaged \(error.reason)", start: nil, end: nil))
        }
    }

    private mutating func take(_ record: Record, _ status: Int?, into batch: inout Batch) {
        var record = record
        let key = RecordKey(record, secret: options.secret)
        if status != nil, record.deliveredStatus == nil, let other = statusOfDelivery(key) {
            record.notes.append("an equal request of this log was answered \(other)")
            record.held.append(.delivered(status: other))
        }
        guard options.filter.passes(record) else { return }
        batch.append(
            record, key: key, input: input, place: store.map { Batch.StorePlace(store: $0, part: 0) })
    }

    /// How a request equal to one that did not arrive was answered, when it did: a retry comes later in the log, so the log
    /// is read ahead, once.
    private mutating func statusOfDelivery(_ key: RecordKey) -> Int? {
        if delivered == nil {
            var found: [RecordKey: Int] = [:]
            // What cannot be read is reported in its turn.
            if var ahead = try? LogItems(log) {
                while let item = ahead.next() {
                    guard case .upload(let record, _) = item.finding, let status = record.deliveredStatus else {
                        continue
                    }
                    found[RecordKey(record, secret: options.secret)] = status
                }
            }
            delivered = found
        }
        return delivered?[key]
    }

    private mutating func finish(_ batch: inout Batch) {
        for traffic in OtherTraffic.allCases {
            guard let count = others[traffic] else { continue }
            report(Problem(traffic.rawValue, "\(count) request\(count == 1 ? "" : "s") \(traffic.words)"), in: &batch)
        }
        quarantineRejects(&batch)
    }

    private mutating func quarantineRejects(_ batch: inout Batch) {
        do throws(PlainTextFault) {
            for span in try hashes.hash(rejects) {
                batch.quarantined.append(
                    Batch.QuarantineEntry(
                        input: input,
                        item: Quarantined(
                            capture: log.label, path: log.path, store: log.kind.store, reject: span.reject,
                            size: span.size, sha256: span.sha256, isStored: false)))
            }
        } catch {
            report(Problem("unreadable", error.reason), in: &batch)
        }
        rejects = []
    }

    private func report(_ problem: Problem, in batch: inout Batch) {
        batch.problems.append(PlacedProblem(capture: log.label, path: log.path, problem: problem))
    }
}

/// The items of a log of either kind.
private enum LogItems: ~Copyable {
    case archive(HTTPArchiveScan)
    case lines(LineScan)

    init(_ log: RequestLog) throws(PlainTextFault) {
        switch log.kind {
        case .httpArchive: self = .archive(try HTTPArchiveScan(log))
        case .lines: self = .lines(try LineScan(log))
        }
    }

    var offset: Int {
        switch self {
        case .archive(let scan): scan.offset
        case .lines(let scan): scan.offset
        }
    }

    mutating func next() -> LogItem? {
        switch consume self {
        case .archive(var scan):
            let item = scan.next()
            self = .archive(scan)
            return item
        case .lines(var scan):
            let item = scan.next()
            self = .lines(scan)
            return item
        }
    }
}
